#include "on_cpu.hpp"
#include "run.hpp"

void cpu_transformer(const Job& job) {
  attn::Cpu<float> device(on_cpu(job.options, job.threads));
  run_transformer(device, job);
}
