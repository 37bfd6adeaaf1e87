#pragma once
#include "attn/cuda/support/error.cuh"

namespace attn {

/// Makes a GPU current for this thread until the thread selects another.
inline cudaError_t use_gpu(int gpu) {
  int now = -1;
  const cudaError_t status = cudaGetDevice(&now);  // cached by the runtime: negligible beside a launch
  return status == cudaSuccess && now == gpu ? status : cudaSetDevice(gpu);
}

/// Allocates memory of a GPU.
struct CudaMemory {
  int gpu = 0;

  void* allocate(std::size_t bytes, const char* what) const {
    check_cuda(use_gpu(gpu), what);
    void* block = nullptr;
    const cudaError_t status = cudaMalloc(&block, bytes);
    if (status == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();  // clears the error for the calls that follow
      std::size_t free = 0, total = 0;
      (void)cudaMemGetInfo(&free, &total);
      fail<OutOfMemory>("out of GPU memory: ", what, " need ", bytes >> 20, " MiB more, and ", free >> 20, " of ",
                        total >> 20, " MiB are free; lower the batch size or the model's width");
    }
    check_cuda(status, what);
    return block;
  }
  void release(void* block) const noexcept {
    (void)use_gpu(gpu);
    (void)cudaFree(block);
  }
};

}  // namespace attn
