#include "engines.hpp"
#include "families.hpp"

std::unique_ptr<Engine> cpu_additive(const ModelFolder& folder, const Place& place) {
  return looking<attn::AdditiveOnEncoder, attn::AdditiveOnEncoderAndPast, attn::AdditiveOnSelfAttention>(
      std::make_unique<attn::Cpu<float>>(place.threads), folder);
}
