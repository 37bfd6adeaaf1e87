#include "families.hpp"
#include "on_gpu.cuh"

void cuda_seq2seq(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { seq2seq(device, job); });
}
