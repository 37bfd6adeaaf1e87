#include "engines.hpp"
#include "families.hpp"
#include "on_cpu.hpp"

std::unique_ptr<Engine> cpu_transformer(const ModelFolder& folder, const Place& place) {
  return transformer<attn::Full<>>(std::make_unique<attn::Cpu<float>>(on_cpu(place)), folder);
}

std::unique_ptr<Engine> cpu_linformer32(const ModelFolder& folder, const Place& place) {
  return transformer<attn::Linformer<32>>(std::make_unique<attn::Cpu<float>>(on_cpu(place)), folder);
}

std::unique_ptr<Engine> cpu_linformer64(const ModelFolder& folder, const Place& place) {
  return transformer<attn::Linformer<64>>(std::make_unique<attn::Cpu<float>>(on_cpu(place)), folder);
}
