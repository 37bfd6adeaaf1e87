#include "attn/run/cuda_models.cuh"
#include "attn/run/library_models.hpp"
#include "models.hpp"

void attn::add_cuda_linformers(ModelRegistry& registry) {
  const auto add = [&]<class Device>(std::type_identity<Device>) {
    add_linformers<Device, 32>(registry);
    add_linformers<Device, 64>(registry);
    add_linformers<Device, 128>(registry);
  };
  add(std::type_identity<Cuda<float>>{});
  add(std::type_identity<Cuda<bfloat16>>{});
}
