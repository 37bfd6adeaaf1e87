#pragma once
#include "attn/core/types.hpp"

namespace attn {

/// Which rows of a packed matrix belong to which sentence: sentence s owns rows begin[s] up to, not including, end[s].
/// A packed batch is described by one array of offsets (begin = offsets, end = offsets + 1); a cache of keys, whose
/// sentences have room to grow, by two. The arrays live where the matrix lives; the three numbers are known to the host.
struct Ragged {
  const std::int32_t* begin = nullptr;
  const std::int32_t* end = nullptr;
  Index count = 0;    // sentences
  Index rows = 0;     // of all sentences together
  Index longest = 0;  // rows of the longest sentence

  constexpr Index length(Index s) const { return end[s] - begin[s]; }
};

}  // namespace attn
