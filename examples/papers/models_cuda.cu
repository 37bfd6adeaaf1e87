#include "attn/run/cuda_models.cuh"
#include "papers/models_on.hpp"

void papers::add_cuda_models(ModelRegistry& registry) {
  add_models_on<Cuda<float>>(registry);
  add_models_on<Cuda<bfloat16>>(registry);
}
