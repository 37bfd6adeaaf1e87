#pragma once
#include "attn/core/ragged.hpp"
#include "attn/cuda/support/rows.cuh"

namespace attn {
namespace kernels {

/// Warp-level: the last sentence that begins at row i or earlier, or -1. Each search step compares 32 sentences.
__device__ inline int sentence_of(const Ragged& rows, Index i) {
  int first = 0, count = static_cast<int>(rows.count);
  while (true) {
    const int step = (count + 31) / 32, place = lane_of_warp() * step;
    const bool begun = place < count && rows.begin[first + place] <= i;
    const int found = __popc(__ballot_sync(0xffffffffU, begun)) - 1;
    if (found < 0 || step <= 1) return found < 0 ? -1 : first + found;
    first += found * step;
    count = min(step, count - found * step);
  }
}

}  // namespace kernels
}  // namespace attn
