#pragma once
#include "attn/core/types.hpp"
#include "attn/cuda/support/error.cuh"

namespace attn {

/// Memory of the host that kernels write to, and that stays where it is until more is asked for.
class Pinned {
 public:
  Pinned() = default;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { (void)cudaFreeHost(data_); }

  /// So many numbers; what was there is lost when they grow.
  std::int32_t* numbers(Index count) {
    if (count > count_) {
      (void)cudaFreeHost(data_);
      data_ = nullptr, count_ = 0;
      check(cudaHostAlloc(reinterpret_cast<void**>(&data_), static_cast<std::size_t>(count) * sizeof(*data_),
                          cudaHostAllocMapped | cudaHostAllocPortable),
            "pinned memory for counts");
      count_ = count;
    }
    return data_;
  }

 private:
  std::int32_t* data_ = nullptr;
  Index count_ = 0;
};

}  // namespace attn
