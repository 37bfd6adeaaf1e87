#include "engines.hpp"
#include "engines_on.hpp"
#include "on_a_gpu.cuh"

std::unique_ptr<Engine> cuda_transformer(const ModelFolder& folder, const Place& place) {
  return on_a_gpu(folder, place, [&](auto device) { return transformer_on(std::move(device), folder); });
}
