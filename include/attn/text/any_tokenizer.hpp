#pragma once
#include "attn/text/tokenizer.hpp"

namespace attn {

/// Type-erased tokenizer, which itself satisfies Tokenizer: code that uses it is compiled once for all tokenizers. Copies
/// share the immutable wrapped tokenizer.
class AnyTokenizer : public TokenizerBase<AnyTokenizer> {
 public:
  template <Tokenizer T>
  requires(!std::same_as<T, AnyTokenizer>) AnyTokenizer(T tokenizer) {  // NOLINT: implicit conversion intended
    begin_ = tokenizer.begin(), end_ = tokenizer.end(), pad_ = tokenizer.pad(), unknown_ = tokenizer.unknown();
    typed_ = std::make_shared<Typed<T>>(std::move(tokenizer));
  }

  using TokenizerBase<AnyTokenizer>::encode;
  void encode(std::string_view text, std::vector<Token>& ids) const { typed_->encode(text, ids); }
  std::string decode(std::span<const Token> ids) const { return typed_->decode(ids); }
  Index size() const { return typed_->size(); }
  std::uint64_t hash() const { return typed_->hash(); }

  /// A readable form of a token, see each tokenizer's name(). "?" for ids outside the vocabulary.
  std::string name(Token id) const { return id >= 0 && id < size() ? typed_->name(id) : "?"; }

  /// The wrapped tokenizer if it is a T, else null.
  template <class T>
  const T* get() const {
    const auto* typed = dynamic_cast<const Typed<T>*>(typed_.get());
    return typed == nullptr ? nullptr : &typed->tokenizer;
  }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual void encode(std::string_view text, std::vector<Token>& ids) const = 0;
    virtual std::string decode(std::span<const Token> ids) const = 0;
    virtual Index size() const = 0;
    virtual std::uint64_t hash() const = 0;
    virtual std::string name(Token id) const = 0;
  };
  template <class T>
  struct Typed final : Base {
    explicit Typed(T t) : tokenizer(std::move(t)) {}
    void encode(std::string_view text, std::vector<Token>& ids) const override { tokenizer.encode(text, ids); }
    std::string decode(std::span<const Token> ids) const override { return tokenizer.decode(ids); }
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

  std::shared_ptr<const Base> typed_;
};

static_assert(Tokenizer<AnyTokenizer>);

}  // namespace attn
