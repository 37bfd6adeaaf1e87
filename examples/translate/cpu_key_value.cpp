#include "engines.hpp"
#include "families.hpp"

std::unique_ptr<Engine> cpu_key_value(const ModelFolder& folder, const Place& place) {
  return looking<attn::KeyValueOnEncoder, attn::KeyValueOnEncoderAndPast, attn::KeyValueOnSelfAttention>(
      std::make_unique<attn::Cpu<float>>(place.threads), folder);
}
