#include "families.hpp"

void cpu_transformer(const Job& job) {
  attn::Cpu<float> device(job.threads);
  transformer(device, job);
}
