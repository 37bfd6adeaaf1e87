#include "families.hpp"
#include "on_cpu.hpp"

// The larger part of a file's compile time is the same for one model as for seven, so rows share three files.

void cpu_seq2seq(const Job& job) {
  attn::Cpu<float> device(on_cpu(job.options, job.threads));
  seq2seq(device, job);
}

void cpu_additive(const Job& job) {
  attn::Cpu<float> device(on_cpu(job.options, job.threads));
  additive(device, job);
}

void cpu_key_value(const Job& job) {
  attn::Cpu<float> device(on_cpu(job.options, job.threads));
  key_value(device, job);
}
