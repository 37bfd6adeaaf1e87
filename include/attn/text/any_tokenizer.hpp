#pragma once
#include <any>

#include "attn/text/tokenizer.hpp"

namespace attn {

/// Type-erased tokenizer, which itself satisfies Tokenizer: code that uses it is compiled once for all tokenizers. Copies
/// share the immutable wrapped tokenizer.
class AnyTokenizer : public TokenizerBase<AnyTokenizer> {
 public:
  template <Tokenizer T>
  requires(!std::same_as<T, AnyTokenizer>) AnyTokenizer(T tokenizer) {  // NOLINT: implicit conversion intended
    begin_ = tokenizer.begin(), end_ = tokenizer.end(), pad_ = tokenizer.pad(), unknown_ = tokenizer.unknown();
    const auto typed = std::make_shared<const T>(std::move(tokenizer));
    typed_ = typed;
    encode_ = [typed](std::string_view text, std::vector<Token>& ids) { typed->encode(text, ids); };
    decode_ = [typed](std::span<const Token> ids) { return typed->decode(ids); };
    size_ = [typed] { return typed->size(); };
    hash_ = [typed] { return typed->hash(); };
    name_ = [typed](Token id) -> std::string {
      if constexpr (requires { typed->name(id); })
        return typed->name(id);
      else
        return typed->decode(std::span(&id, 1));
    };
  }

  using TokenizerBase<AnyTokenizer>::encode;
  void encode(std::string_view text, std::vector<Token>& ids) const { encode_(text, ids); }
  std::string decode(std::span<const Token> ids) const { return decode_(ids); }
  Index size() const { return size_(); }
  std::uint64_t hash() const { return hash_(); }

  /// A readable form of a token, see each tokenizer's name(). "?" for ids outside the vocabulary.
  std::string name(Token id) const { return id >= 0 && id < size() ? name_(id) : "?"; }

  /// The wrapped tokenizer if it is a T, else null.
  template <class T>
  const T* get() const {
    const auto* typed = std::any_cast<std::shared_ptr<const T>>(&typed_);
    return typed == nullptr ? nullptr : typed->get();
  }

 private:
  std::any typed_;  // a std::shared_ptr<const T>
  std::function<void(std::string_view, std::vector<Token>&)> encode_;
  std::function<std::string(std::span<const Token>)> decode_;
  std::function<Index()> size_;
  std::function<std::uint64_t()> hash_;
  std::function<std::string(Token)> name_;
};

static_assert(Tokenizer<AnyTokenizer>);

}  // namespace attn
