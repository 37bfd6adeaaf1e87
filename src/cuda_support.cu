#include "attn/cuda/gpus.cuh"
#include "models.hpp"

attn::GpuSupport attn::cuda_support() {
  return {.count = cuda_gpus, .found = cuda_found, .check = [](int gpu) { choose_gpu(gpu); }};
}
