#pragma once
#include <algorithm>

#include "attn/core/step_graph.hpp"
#include "attn/cuda/device.cuh"

namespace attn {

/// The counts are in pinned host memory, which kernels write to. A negative count has not been written yet. A device has
/// one WatchedCounts at a time.
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
      check_cuda(status, "waiting for a step of decoding");
      require(count >= 0, "decoding: step ", i, " is over and has not said how many sentences are left");
    }
    return count;
  }

 private:
  Cuda<T>& device_;
  std::int32_t* counts_;
};

}  // namespace attn
