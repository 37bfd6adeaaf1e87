#include "families.hpp"

void cpu_seq2seq(const Job& job) {
  attn::Cpu<float> device(job.threads);
  seq2seq(device, job);
}
