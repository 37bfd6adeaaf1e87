#include "models.hpp"
#include "on_cpu.hpp"
#include "run.hpp"

void cpu_recurrent(const Options& options, const Corpus& corpus) {
  attn::Cpu<float> device(on_cpu(options));
  run_recurrent(device, options, corpus);
}
