#include "engines.hpp"
#include "families.hpp"
#include "on_cpu.hpp"

// The larger part of a file's compile time is the same for one model as for many, so these share it.

std::unique_ptr<Engine> cpu_additive(const ModelFolder& folder, const Place& place) {
  return looking<attn::AdditiveOnEncoder, attn::AdditiveOnEncoderAndPast, attn::AdditiveOnSelfAttention>(
      std::make_unique<attn::Cpu<float>>(on_cpu(place)), folder);
}

std::unique_ptr<Engine> cpu_multiplicative(const ModelFolder& folder, const Place& place) {
  return looking<attn::MultiplicativeOnEncoder, attn::MultiplicativeOnEncoderAndPast, attn::MultiplicativeOnSelfAttention>(
      std::make_unique<attn::Cpu<float>>(on_cpu(place)), folder);
}

std::unique_ptr<Engine> cpu_scaled_dot(const ModelFolder& folder, const Place& place) {
  return looking<attn::ScaledDotOnEncoder, attn::ScaledDotOnEncoderAndPast, attn::ScaledDotOnSelfAttention>(
      std::make_unique<attn::Cpu<float>>(on_cpu(place)), folder);
}

std::unique_ptr<Engine> cpu_key_value(const ModelFolder& folder, const Place& place) {
  return looking<attn::KeyValueOnEncoder, attn::KeyValueOnEncoderAndPast, attn::KeyValueOnSelfAttention>(
      std::make_unique<attn::Cpu<float>>(on_cpu(place)), folder);
}

std::unique_ptr<Engine> cpu_others(const ModelFolder& folder, const Place& place) {
  return others(std::make_unique<attn::Cpu<float>>(on_cpu(place)), folder);
}
