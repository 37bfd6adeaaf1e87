#include "models.hpp"
#include "run.hpp"

void cpu_transformer(const Options& options, const Corpus& corpus) {
  attn::Cpu<float> device(options.on_cpu());
  run<attn::Full<>>(device, options, corpus);
}
