#include "attn/run/cuda_models.cuh"
#include "attn/run/library_models.hpp"
#include "attn/run/recurrent_models.hpp"
#include "models.hpp"

template class attn::ModelOnDevice<attn::Cuda<attn::bfloat16>>;

void attn::add_cuda_bfloat16_models(ModelRegistry& registry) {
  add_library_models<Cuda<bfloat16>>(registry);
  add_recurrent_models<Cuda<bfloat16>>(registry);
}
