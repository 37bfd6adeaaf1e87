#include "engines.hpp"
#include "families.hpp"

std::unique_ptr<Engine> cpu_linformer32(const ModelFolder& folder, const Place& place) {
  return transformer<attn::Linformer<32>>(std::make_unique<attn::Cpu<float>>(place.threads), folder);
}
