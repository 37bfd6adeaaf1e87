#pragma once
#include <unordered_map>

#include "attn/core/format_count.hpp"
#include "attn/text/content_hash.hpp"
#include "attn/text/utf8.hpp"

namespace attn {

/// Text to ids, without begin and end tokens. The second form appends to a vector that the caller can reuse.
template <class T>
concept EncodesText = requires(const T& tokenizer, std::string_view text, std::vector<Token>& ids) {
  { tokenizer.encode(text) } -> std::same_as<std::vector<Token>>;
  { tokenizer.encode(text, ids) } -> std::same_as<void>;
};

/// Ids to text. Skips begin, end and padding tokens.
template <class T>
concept DecodesTokens = requires(const T& tokenizer, std::span<const Token> ids) {
  { tokenizer.decode(ids) } -> std::same_as<std::string>;
};

/// The special tokens that a model needs.
template <class T>
concept HasSpecialTokens = requires(const T& tokenizer) {
  { tokenizer.begin() } -> std::same_as<Token>;
  { tokenizer.end() } -> std::same_as<Token>;
  { tokenizer.pad() } -> std::same_as<Token>;
  { tokenizer.unknown() } -> std::same_as<Token>;
};

/// A hash of everything that determines the ids. A checkpoint stores it and rejects any other tokenizer.
template <class T>
concept HasHash = requires(const T& tokenizer) {
  { tokenizer.hash() } -> std::same_as<std::uint64_t>;
};

/// The requirements of shards, training and translation, met for example by ByteBpe and WordVocabulary. Ids are 0 to
/// size() - 1. A model may round its embedding tables up to padded_size().
template <class T>
concept Tokenizer = EncodesText<T> && DecodesTokens<T> && HasSpecialTokens<T> && HasHash<T> &&
    requires(const T& tokenizer) {
  { tokenizer.size() } -> std::same_as<Index>;
  { tokenizer.padded_size() } -> std::same_as<Index>;
};

/// The next multiple of 8, for full-speed matrix products: 50,265 -> 50,272.
constexpr Index padded_vocabulary(Index size) { return (size + 7) / 8 * 8; }

/// The members that all tokenizers of the library share. A tokenizer sets its special tokens.
template <class Derived>
class TokenizerBase {
 public:
  std::vector<Token> encode(std::string_view text) const {
    std::vector<Token> ids;
    static_cast<const Derived&>(*this).encode(text, ids);
    return ids;
  }
  Token begin() const { return begin_; }
  Token end() const { return end_; }
  Token pad() const { return pad_; }
  Token unknown() const { return unknown_; }
  Index padded_size() const { return padded_vocabulary(static_cast<const Derived&>(*this).size()); }

 protected:
  Token begin_ = -1, end_ = -1, pad_ = -1, unknown_ = -1;
};

/// A readable form of a piece, where `space` marks the start of a word. A piece that continues a word starts with a dot,
/// unless it is all punctuation. A lone space shows as U+2423; part of a character shows as its bytes, <e4><bd>.
inline std::string piece_name(std::string_view piece, std::string_view space) {
  if (piece == space) return "\u2423";
  std::string name;
  if (utf8::first_invalid(piece) != piece.npos) {
    for (const char byte : piece) name += detail::formatted("<%02x>", static_cast<unsigned char>(byte));
    return name;
  }
  if (piece.starts_with(space)) return std::string(piece.substr(space.size()));
  for (const utf8::Character& one : utf8::Characters(piece))
    if (unicode::is_letter(one.code) || unicode::is_number(one.code)) name = "\u00b7";
  return name.append(piece);
}

namespace detail {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

/// A map with string keys that supports lookup by string_view without a copy.
template <class Value>
struct StringMap : std::unordered_map<std::string, Value, StringHash, std::equal_to<>> {
  /// The value of a key, or `otherwise`.
  Value get(std::string_view key, Value otherwise) const {
    const auto found = this->find(key);
    return found == this->end() ? otherwise : found->second;
  }
  Value& operator[](std::string_view key) {
    const auto found = this->find(key);
    return found == this->end() ? this->emplace(key, Value{}).first->second : found->second;
  }
};

}  // namespace detail

}  // namespace attn
