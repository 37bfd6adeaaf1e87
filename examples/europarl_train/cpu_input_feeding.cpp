#include "families.hpp"

void cpu_input_feeding(const Job& job) {
  attn::Cpu<float> device(job.threads);
  input_feeding(device, job);
}
