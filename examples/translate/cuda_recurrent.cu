#include "engines.hpp"
#include "families.hpp"
#include "on_a_gpu.cuh"

// The larger part of a file's compile time is the same for one model as for many, so these share it.

std::unique_ptr<Engine> cuda_additive(const ModelFolder& folder, const Place& place) {
  return on_a_gpu(folder, place, [&](auto device) {
    return looking<attn::AdditiveOnEncoder, attn::AdditiveOnEncoderAndPast, attn::AdditiveOnSelfAttention>(
        std::move(device), folder);
  });
}

std::unique_ptr<Engine> cuda_multiplicative(const ModelFolder& folder, const Place& place) {
  return on_a_gpu(folder, place, [&](auto device) {
    return looking<attn::MultiplicativeOnEncoder, attn::MultiplicativeOnEncoderAndPast,
                   attn::MultiplicativeOnSelfAttention>(std::move(device), folder);
  });
}

std::unique_ptr<Engine> cuda_scaled_dot(const ModelFolder& folder, const Place& place) {
  return on_a_gpu(folder, place, [&](auto device) {
    return looking<attn::ScaledDotOnEncoder, attn::ScaledDotOnEncoderAndPast, attn::ScaledDotOnSelfAttention>(
        std::move(device), folder);
  });
}

std::unique_ptr<Engine> cuda_key_value(const ModelFolder& folder, const Place& place) {
  return on_a_gpu(folder, place, [&](auto device) {
    return looking<attn::KeyValueOnEncoder, attn::KeyValueOnEncoderAndPast, attn::KeyValueOnSelfAttention>(
        std::move(device), folder);
  });
}

std::unique_ptr<Engine> cuda_others(const ModelFolder& folder, const Place& place) {
  return on_a_gpu(folder, place, [&](auto device) { return others(std::move(device), folder); });
}
