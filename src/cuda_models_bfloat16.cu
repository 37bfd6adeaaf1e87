#include "attn/run/cuda_models.cuh"
#include "attn/run/library_models.hpp"
#include "models.hpp"

void attn::add_cuda_bfloat16_models(ModelRegistry& registry) { add_library_models<Cuda<bfloat16>>(registry); }
