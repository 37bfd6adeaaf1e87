#pragma once
#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// The size of a vocabulary that a layer is made for; an error where it is none.
inline Index vocabulary_size(Index words) {
  require(words > 0 && words <= Index{1} << 30, "a layer for a vocabulary of ", words,
          " words: give the vocabulary's size in the model's options, as the tokenizer's padded_size() says it");
  return words;
}

}  // namespace attn
