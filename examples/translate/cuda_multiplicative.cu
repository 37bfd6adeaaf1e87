#include "engines.hpp"
#include "families.hpp"
#include "on_a_gpu.cuh"

std::unique_ptr<Engine> cuda_multiplicative(const ModelFolder& folder, const Place& place) {
  return on_a_gpu(folder, place, [&](auto device) {
    return looking<attn::MultiplicativeOnEncoder, attn::MultiplicativeOnEncoderAndPast,
                   attn::MultiplicativeOnSelfAttention>(std::move(device), folder);
  });
}
