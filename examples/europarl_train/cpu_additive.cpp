#include "families.hpp"

// The larger part of a file's compile time is the same for one model as for seven, so rows share three files.

void cpu_seq2seq(const Job& job) {
  attn::Cpu<float> device(job.on_cpu());
  seq2seq(device, job);
}

void cpu_additive(const Job& job) {
  attn::Cpu<float> device(job.on_cpu());
  additive(device, job);
}

void cpu_key_value(const Job& job) {
  attn::Cpu<float> device(job.on_cpu());
  key_value(device, job);
}
