#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/types.hpp"

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

/// Ids are 0 to size() - 1. A model may round its embedding tables up to padded_size().
template <class T>
concept HasSize = requires(const T& tokenizer) {
  { tokenizer.size() } -> std::same_as<Index>;
  { tokenizer.padded_size() } -> std::same_as<Index>;
};

/// A hash of everything that determines the ids. A checkpoint stores it and rejects any other tokenizer.
template <class T>
concept HasHash = requires(const T& tokenizer) {
  { tokenizer.hash() } -> std::same_as<std::uint64_t>;
};

/// The requirements of shards, training and translation, met for example by ByteBpe and WordVocabulary.
template <class T>
concept Tokenizer = EncodesText<T> && DecodesTokens<T> && HasSpecialTokens<T> && HasSize<T> && HasHash<T>;

/// The next multiple of 8, for full-speed matrix products: 50,265 -> 50,272.
constexpr Index padded_vocabulary(Index size) { return (size + 7) / 8 * 8; }

}  // namespace attn
