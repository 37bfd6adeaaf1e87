#pragma once
#include "attn/cuda/support/error.cuh"

namespace attn {

/// Makes a GPU the one that this thread's calls of CUDA are for. It stays so until the thread uses another.
inline cudaError_t use_gpu(int gpu) {
  int now = -1;
  const cudaError_t status = cudaGetDevice(&now);  // the runtime's own note: nothing beside a launch
  return status == cudaSuccess && now == gpu ? status : cudaSetDevice(gpu);
}

/// Where blocks come from on a GPU.
struct CudaMemory {
  int gpu = 0;

  void* allocate(std::size_t bytes, const char* what) const {
    check(use_gpu(gpu), what);
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
  void release(void* block) const noexcept {
    (void)use_gpu(gpu);
    (void)cudaFree(block);
  }
};

}  // namespace attn
