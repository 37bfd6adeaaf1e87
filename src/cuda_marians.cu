#include "attn/run/cuda_models.cuh"
#include "attn/run/library_models.hpp"
#include "models.hpp"

void attn::add_cuda_marians(ModelRegistry& registry) {
  add_marians<Cuda<float>>(registry);
  add_marians<Cuda<bfloat16>>(registry);
}
