#include "attn/run/cuda_models.cuh"
#include "attn/run/library_models.hpp"
#include "models.hpp"

void attn::add_cuda_transformers(ModelRegistry& registry) {
  add_transformers<Cuda<float>>(registry);
  add_transformers<Cuda<bfloat16>>(registry);
}
