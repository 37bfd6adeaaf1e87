#pragma once
#include <algorithm>

#include "attn/cuda/device.cuh"
#include "attn/decode/watched_counts.hpp"

namespace attn {

/// They lie in pinned memory of the host, which kernels write to. No count is negative: one that is has not been written yet. A device
/// has one of these at a time.
template <class T>
class WatchedCounts<Cuda<T>> {
 public:
  WatchedCounts(Cuda<T>& device, Index steps) : device_(device), counts_(device.pinned(steps)) {
    std::fill_n(counts_, steps, -1);
  }

  std::int32_t* data() { return counts_; }
  std::int32_t of(Index i) const {
    const volatile std::int32_t& count = counts_[i];
    while (count < 0) {
      const cudaError_t status = cudaStreamQuery(device_.stream());
      if (status == cudaErrorNotReady) continue;
      check(status, "waiting for a step of decoding");
      require(count >= 0, "decoding: step ", i, " is over and has not said how many sentences are left");
    }
    return count;
  }

 private:
  Cuda<T>& device_;
  std::int32_t* counts_;
};

}  // namespace attn
