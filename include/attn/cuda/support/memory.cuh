#pragma once
#include "attn/cuda/support/error.cuh"

namespace attn {

/// Where blocks come from on the GPU that is current.
struct CudaMemory {
  static void* allocate(std::size_t bytes, const char* what) {
    void* block = nullptr;
    const cudaError_t status = cudaMalloc(&block, bytes);
    if (status == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();  // it has been reported: what comes next should not find it
      std::size_t free = 0, total = 0;
      (void)cudaMemGetInfo(&free, &total);
      fail<OutOfMemory>("out of GPU memory: ", what, " need ", bytes >> 20, " MiB more, and ", free >> 20, " of ",
                        total >> 20, " MiB are free; lower the batch size or the model's width");
    }
    check(status, what);
    return block;
  }
  static void release(void* block) noexcept { (void)cudaFree(block); }
};

}  // namespace attn
