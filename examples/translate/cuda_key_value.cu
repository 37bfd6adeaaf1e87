#include "engines.hpp"
#include "families.hpp"
#include "on_a_gpu.cuh"

std::unique_ptr<Engine> cuda_key_value(const ModelFolder& folder, const Place& place) {
  return on_a_gpu(folder, place, [&](auto device) {
    return looking<attn::KeyValueOnEncoder, attn::KeyValueOnEncoderAndPast, attn::KeyValueOnSelfAttention>(
        std::move(device), folder);
  });
}
