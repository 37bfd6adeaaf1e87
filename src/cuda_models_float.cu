#include "attn/run/cuda_models.cuh"
#include "attn/run/library_models.hpp"
#include "models.hpp"

void attn::add_cuda_float_models(ModelRegistry& registry) { add_library_models<Cuda<float>>(registry); }
