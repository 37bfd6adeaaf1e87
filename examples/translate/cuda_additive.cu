#include "engines.hpp"
#include "families.hpp"
#include "on_a_gpu.cuh"

std::unique_ptr<Engine> cuda_additive(const ModelFolder& folder, const Place& place) {
  return on_a_gpu(folder, place, [&](auto device) {
    return looking<attn::AdditiveOnEncoder, attn::AdditiveOnEncoderAndPast, attn::AdditiveOnSelfAttention>(
        std::move(device), folder);
  });
}
