#include "families.hpp"

// All of the coursework.

void cpu_input_feeding(const Job& job) {
  attn::Cpu<float> device(job.on_cpu());
  input_feeding(device, job);
}

void cpu_lexical(const Job& job) {
  attn::Cpu<float> device(job.on_cpu());
  lexical(device, job);
}

void cpu_transformer(const Job& job) {
  attn::Cpu<float> device(job.on_cpu());
  transformer(device, job);
}
