#pragma once
#include "attn/run/model_registry.hpp"

// Each *_models file of this folder compiles the library's models, their training included, for one device.

namespace attn {

void add_cpu_models(ModelRegistry& registry);
void add_cuda_float_models(ModelRegistry& registry);
void add_cuda_bfloat16_models(ModelRegistry& registry);
GpuSupport cuda_support();

}  // namespace attn
