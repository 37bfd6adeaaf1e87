#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "attn/core/types.hpp"

namespace attn {

/// The tokens after which some n tokens in a row would occur twice; for n = 1 all tokens so far. One may be named twice.
inline std::vector<Token> repeating_tokens(std::span<const Token> words, Index n) {
  std::vector<Token> found;
  const auto count = static_cast<Index>(words.size());
  for (Index at = 0; n > 0 && at + n <= count; ++at)
    if (std::equal(words.end() - (n - 1), words.end(), words.begin() + at))
      found.push_back(words[static_cast<std::size_t>(at + n - 1)]);
  return found;
}

/// Of words that end in the same few again and again, such as "on and on and on and on and": how many repeat; 0 where
/// none are there `times` times or more. The fewest, where several numbers fit.
inline Index repeated_ending(std::span<const Token> words, Index times = 4) {
  const auto count = static_cast<Index>(words.size());
  for (Index period = 1; period * times <= count; ++period) {
    if (std::equal(words.end() - period * (times - 1), words.end(), words.end() - period * times)) return period;
  }
  return 0;
}

}  // namespace attn
