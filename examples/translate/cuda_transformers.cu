#include "engines.hpp"
#include "families.hpp"
#include "on_a_gpu.cuh"

std::unique_ptr<Engine> cuda_transformer(const ModelFolder& folder, const Place& place) {
  return on_a_gpu(folder, place, [&](auto device) { return transformer<attn::Full<>>(std::move(device), folder); });
}

std::unique_ptr<Engine> cuda_linformer32(const ModelFolder& folder, const Place& place) {
  return on_a_gpu(folder, place, [&](auto device) { return transformer<attn::Linformer<32>>(std::move(device), folder); });
}

std::unique_ptr<Engine> cuda_linformer64(const ModelFolder& folder, const Place& place) {
  return on_a_gpu(folder, place, [&](auto device) { return transformer<attn::Linformer<64>>(std::move(device), folder); });
}
