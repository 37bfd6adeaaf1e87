#include "families.hpp"

void cpu_additive(const Job& job) {
  attn::Cpu<float> device(job.threads);
  additive(device, job);
}
