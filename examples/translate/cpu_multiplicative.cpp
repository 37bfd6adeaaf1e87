#include "engines.hpp"
#include "families.hpp"

std::unique_ptr<Engine> cpu_multiplicative(const ModelFolder& folder, const Place& place) {
  return looking<attn::MultiplicativeOnEncoder, attn::MultiplicativeOnEncoderAndPast, attn::MultiplicativeOnSelfAttention>(
      std::make_unique<attn::Cpu<float>>(place.threads), folder);
}
