#include "families.hpp"

void cpu_lexical(const Job& job) {
  attn::Cpu<float> device(job.threads);
  lexical(device, job);
}
