#include "families.hpp"

void cpu_scaled_dot(const Job& job) {
  attn::Cpu<float> device(job.threads);
  scaled_dot(device, job);
}
