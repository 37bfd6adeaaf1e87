#include "engines.hpp"
#include "families.hpp"

std::unique_ptr<Engine> cpu_others(const ModelFolder& folder, const Place& place) {
  return others(std::make_unique<attn::Cpu<float>>(place.threads), folder);
}
