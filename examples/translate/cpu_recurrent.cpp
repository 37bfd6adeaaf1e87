#include "engines.hpp"
#include "engines_on.hpp"
#include "on_cpu.hpp"

std::unique_ptr<Engine> cpu_recurrent(const ModelFolder& folder, const Place& place) {
  return recurrent_on(std::make_unique<attn::Cpu<float>>(on_cpu(place)), folder);
}
