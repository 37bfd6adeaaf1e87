#include "families.hpp"
#include "on_cpu.hpp"

// Scores that are products of a state and a memory.

void cpu_multiplicative(const Job& job) {
  attn::Cpu<float> device(on_cpu(job.options, job.threads));
  multiplicative(device, job);
}

void cpu_scaled_dot(const Job& job) {
  attn::Cpu<float> device(on_cpu(job.options, job.threads));
  scaled_dot(device, job);
}
