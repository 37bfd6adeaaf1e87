#include "families.hpp"

void cpu_multiplicative(const Job& job) {
  attn::Cpu<float> device(job.threads);
  multiplicative(device, job);
}
