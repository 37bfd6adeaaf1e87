#pragma once
#include "attn/core/types.hpp"
#include "attn/cuda/support/error.cuh"

namespace attn {

/// Pinned host memory that kernels write to. It is reallocated only to grow.
class Pinned {
 public:
  Pinned() = default;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { (void)cudaFreeHost(data_); }

  /// At least `count` integers; growing discards their values.
  std::int32_t* numbers(Index count) {
    if (count > count_) {
      (void)cudaFreeHost(data_);
      data_ = nullptr, count_ = 0;
      check_cuda(cudaHostAlloc(reinterpret_cast<void**>(&data_), static_cast<std::size_t>(count) * sizeof(*data_),
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
