#include "engines.hpp"
#include "families.hpp"

std::unique_ptr<Engine> cpu_scaled_dot(const ModelFolder& folder, const Place& place) {
  return looking<attn::ScaledDotOnEncoder, attn::ScaledDotOnEncoderAndPast, attn::ScaledDotOnSelfAttention>(
      std::make_unique<attn::Cpu<float>>(place.threads), folder);
}
