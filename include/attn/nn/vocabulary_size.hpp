#pragma once
#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Returns the vocabulary size of a layer. Throws an Error unless it is positive and at most 2^30.
inline Index vocabulary_size(Index tokens) {
  require(tokens > 0 && tokens <= Index{1} << 30, "a layer cannot have a vocabulary of ", tokens,
          " tokens. Set the vocabulary size in the model's options to padded_size() of the tokenizer.");
  return tokens;
}

}  // namespace attn
