#include "attn/cuda.cuh"
#include "cuda/backend_on.hpp"

std::unique_ptr<Backend> make_cuda_float(int gpu) {
  return std::make_unique<BackendOn<attn::Cuda<float>>>(attn::CudaOptions{.gpu = gpu});
}
std::unique_ptr<Backend> make_cuda_tf32() {
  return std::make_unique<BackendOn<attn::Cuda<float>>>(attn::CudaOptions{.tf32 = true});
}

int gpus() { return attn::cuda_gpus(); }
std::string no_gpu() { return attn::cuda_gpus() > 0 ? "" : "found " + attn::cuda_found() + "; " + attn::cuda_needed(); }
