#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/tokenizer.hpp"

namespace attn {

/// A tokenizer of any type. Is a Tokenizer itself, so that a program is compiled for this one only. Copies share what they
/// hold, which never changes.
class AnyTokenizer {
 public:
  template <Tokenizer T>
  requires(!std::same_as<T, AnyTokenizer>) AnyTokenizer(T tokenizer)  // NOLINT: a conversion on purpose
      : held_(std::make_shared<Held<T>>(std::move(tokenizer))) {}

  std::vector<Token> encode(std::string_view text) const {
    std::vector<Token> ids;
    encode(text, ids);
    return ids;
  }
  void encode(std::string_view text, std::vector<Token>& ids) const { held_->encode(text, ids); }
  std::string decode(std::span<const Token> ids) const { return held_->decode(ids); }
  Token begin() const { return held_->special().begin; }
  Token end() const { return held_->special().end; }
  Token pad() const { return held_->special().pad; }
  Token unknown() const { return held_->special().unknown; }
  Index size() const { return held_->size(); }
  Index padded_size() const { return padded_vocabulary(size()); }
  std::uint64_t hash() const { return held_->hash(); }

  /// A token as people read it (see token_name of each tokenizer); "?" for ids past the vocabulary.
  std::string name(Token id) const { return id >= 0 && id < size() ? held_->name(id) : "?"; }

  /// What it holds, if it is a T.
  template <class T>
  const T* get() const {
    const auto* held = dynamic_cast<const Held<T>*>(held_.get());
    return held == nullptr ? nullptr : &held->tokenizer;
  }

 private:
  struct Special {
    Token begin, end, pad, unknown;
  };
  struct Base {
    virtual ~Base() = default;
    virtual void encode(std::string_view text, std::vector<Token>& ids) const = 0;
    virtual std::string decode(std::span<const Token> ids) const = 0;
    virtual Special special() const = 0;
    virtual Index size() const = 0;
    virtual std::uint64_t hash() const = 0;
    virtual std::string name(Token id) const = 0;
  };
  template <class T>
  struct Held final : Base {
    explicit Held(T t) : tokenizer(std::move(t)) {}
    void encode(std::string_view text, std::vector<Token>& ids) const override { tokenizer.encode(text, ids); }
    std::string decode(std::span<const Token> ids) const override { return tokenizer.decode(ids); }
    Special special() const override { return {tokenizer.begin(), tokenizer.end(), tokenizer.pad(), tokenizer.unknown()}; }
    Index size() const override { return tokenizer.size(); }
    std::uint64_t hash() const override { return tokenizer.hash(); }
    std::string name(Token id) const override {
      if constexpr (requires { tokenizer.name(id); })
        return tokenizer.name(id);
      else
        return tokenizer.decode(std::span(&id, 1));
    }
    T tokenizer;
  };

  std::shared_ptr<const Base> held_;
};

static_assert(Tokenizer<AnyTokenizer>);

}  // namespace attn
