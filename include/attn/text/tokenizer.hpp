#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/types.hpp"

namespace attn {

/// Text to ids, without begin or end; the second form appends to a vector that its caller reuses.
template <class T>
concept EncodesText = requires(const T& tokenizer, std::string_view text, std::vector<Token>& ids) {
  { tokenizer.encode(text) } -> std::same_as<std::vector<Token>>;
  { tokenizer.encode(text, ids) } -> std::same_as<void>;
};

/// Ids to text; begin, end and padding leave no trace.
template <class T>
concept DecodesTokens = requires(const T& tokenizer, std::span<const Token> ids) {
  { tokenizer.decode(ids) } -> std::same_as<std::string>;
};

/// The ids that a model needs beside those of text.
template <class T>
concept HasSpecialTokens = requires(const T& tokenizer) {
  { tokenizer.begin() } -> std::same_as<Token>;
  { tokenizer.end() } -> std::same_as<Token>;
  { tokenizer.pad() } -> std::same_as<Token>;
  { tokenizer.unknown() } -> std::same_as<Token>;
};

/// Ids run from 0 to size() - 1; a model may round its tables up to padded_size().
template <class T>
concept HasSize = requires(const T& tokenizer) {
  { tokenizer.size() } -> std::same_as<Index>;
  { tokenizer.padded_size() } -> std::same_as<Index>;
};

/// A fingerprint of all that decides the ids: a checkpoint stores it and refuses another tokenizer.
template <class T>
concept HasHash = requires(const T& tokenizer) {
  { tokenizer.hash() } -> std::same_as<std::uint64_t>;
};

/// What shards, training and translation ask of a vocabulary: ByteBpe and WordVocabulary are two.
template <class T>
concept Tokenizer = EncodesText<T> && DecodesTokens<T> && HasSpecialTokens<T> && HasSize<T> && HasHash<T>;

/// The next multiple of 8, where matrix products run at full speed: 50,265 -> 50,272.
constexpr Index padded_vocabulary(Index size) { return (size + 7) / 8 * 8; }

}  // namespace attn
