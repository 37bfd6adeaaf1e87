#include "families.hpp"

void cpu_key_value(const Job& job) {
  attn::Cpu<float> device(job.threads);
  key_value(device, job);
}
