#pragma once
#include "attn/run/model_registry.hpp"

// What the files of this folder compile, side by side: the library's models for either device.

namespace attn {

void add_cpu_transformers(ModelRegistry& registry);
void add_cpu_linformers(ModelRegistry& registry);
void add_cpu_marians(ModelRegistry& registry);
void add_cuda_transformers(ModelRegistry& registry);
void add_cuda_linformers(ModelRegistry& registry);
void add_cuda_marians(ModelRegistry& registry);
GpuSupport cuda_support();

}  // namespace attn
