#include "attn/cuda.cuh"
#include "cuda/backend_on.hpp"

std::unique_ptr<Backend> make_cuda_bfloat16(int gpu) {
  return std::make_unique<BackendOn<attn::Cuda<attn::bfloat16>>>(attn::CudaOptions{.gpu = gpu});
}
