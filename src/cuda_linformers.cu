#include "attn/run/cuda_models.cuh"
#include "attn/run/library_models.hpp"
#include "models.hpp"

void attn::add_cuda_linformers(ModelRegistry& registry) {
  add_linformers<Cuda<float>>(registry);
  add_linformers<Cuda<bfloat16>>(registry);
}
