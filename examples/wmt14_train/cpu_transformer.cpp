#include "models.hpp"
#include "on_cpu.hpp"
#include "run.hpp"

void cpu_transformer(const Options& options, const Corpus& corpus) {
  attn::Cpu<float> device(on_cpu(options));
  run_transformer(device, options, corpus);
}
