#include "attn/run/cuda_models.cuh"
#include "attn/run/recurrent_models.hpp"
#include "models.hpp"

void attn::add_cuda_recurrent_models(ModelRegistry& registry) {
  add_recurrent_models<Cuda<float>>(registry);
  add_recurrent_models<Cuda<bfloat16>>(registry);
}
