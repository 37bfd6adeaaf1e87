#include "families.hpp"
#include "on_cpu.hpp"

// All of the coursework.

void cpu_input_feeding(const Job& job) {
  attn::Cpu<float> device(on_cpu(job.options, job.threads));
  input_feeding(device, job);
}

void cpu_lexical(const Job& job) {
  attn::Cpu<float> device(on_cpu(job.options, job.threads));
  lexical(device, job);
}

void cpu_transformer(const Job& job) {
  attn::Cpu<float> device(on_cpu(job.options, job.threads));
  transformer(device, job);
}
