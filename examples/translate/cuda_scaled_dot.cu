#include "engines.hpp"
#include "families.hpp"
#include "on_a_gpu.cuh"

std::unique_ptr<Engine> cuda_scaled_dot(const ModelFolder& folder, const Place& place) {
  return on_a_gpu(folder, place, [&](auto device) {
    return looking<attn::ScaledDotOnEncoder, attn::ScaledDotOnEncoderAndPast, attn::ScaledDotOnSelfAttention>(
        std::move(device), folder);
  });
}
