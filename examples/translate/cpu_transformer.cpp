#include "engines.hpp"
#include "engines_on.hpp"
#include "on_cpu.hpp"

std::unique_ptr<Engine> cpu_transformer(const ModelFolder& folder, const Place& place) {
  return transformer_on(std::make_unique<attn::Cpu<float>>(on_cpu(place)), folder);
}
