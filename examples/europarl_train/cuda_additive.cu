#include "families.hpp"
#include "on_gpu.cuh"

// The larger part of a file's compile time is the same for one model as for seven, so rows share three files.

void cuda_seq2seq(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { seq2seq(device, job); });
}

void cuda_additive(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { additive(device, job); });
}

void cuda_key_value(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { key_value(device, job); });
}
