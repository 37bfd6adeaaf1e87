#include "attn/cuda/gpus.cuh"
#include "attn/run/cuda_models.cuh"
#include "models.hpp"

template class attn::ModelOnDevice<attn::Cuda<float>>;
template class attn::ModelOnDevice<attn::Cuda<attn::bfloat16>>;

attn::GpuSupport attn::cuda_support() {
  return {.count = cuda_gpus, .found = cuda_found, .check = [](int gpu) { choose_gpu(gpu); }, .kernels = describe_gpu};
}
