#pragma once
#include <memory>

#include "engine.hpp"
#include "on_gpu.cuh"

/// make(device) with the GPU, and the precision, that a place names. The training's plans of matrix products serve here too.
template <class Make>
std::unique_ptr<Engine> on_a_gpu(const ModelFolder& folder, const Place& place, const Make& make) {
  const auto make_on = [&](auto device) {
    load_plans(*device, plan_file(folder.weights.parent_path(), place));
    return make(std::move(device));
  };
  const attn::CudaOptions chosen{.gpu = place.gpu, .tf32 = place.tf32};
  if (place.precision == "float") return make_on(std::make_unique<attn::Cuda<float>>(chosen));
  return make_on(std::make_unique<attn::Cuda<attn::bfloat16>>(chosen));
}
