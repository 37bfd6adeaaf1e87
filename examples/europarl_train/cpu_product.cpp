#include "families.hpp"

// Scores that are products of a state and a memory.

void cpu_multiplicative(const Job& job) {
  attn::Cpu<float> device(job.on_cpu());
  multiplicative(device, job);
}

void cpu_scaled_dot(const Job& job) {
  attn::Cpu<float> device(job.on_cpu());
  scaled_dot(device, job);
}
