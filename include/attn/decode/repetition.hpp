#pragma once
#include "attn/core/types.hpp"

namespace attn {

/// The tokens that would repeat an n-gram of `tokens`; for n = 1, all of them. May contain duplicates.
inline std::vector<Token> repeating_tokens(std::span<const Token> tokens, Index n) {
  std::vector<Token> found;
  const auto count = static_cast<Index>(tokens.size());
  for (Index at = 0; n > 0 && at + n <= count; ++at)
    if (std::equal(tokens.end() - (n - 1), tokens.end(), tokens.begin() + at))
      found.push_back(tokens[static_cast<std::size_t>(at + n - 1)]);
  return found;
}

/// The length of the unit that a text repeats at its end, such as 2 for "on and on and on and on and". The shortest that
/// repeats at least `times` times; 0 if none does.
inline Index repeated_ending(std::span<const Token> tokens, Index times = 4) {
  const auto count = static_cast<Index>(tokens.size());
  for (Index period = 1; period * times <= count; ++period) {
    if (std::equal(tokens.end() - period * (times - 1), tokens.end(), tokens.end() - period * times)) return period;
  }
  return 0;
}

}  // namespace attn
