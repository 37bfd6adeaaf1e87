#include "families.hpp"
#include "on_gpu.cuh"

// Scores that are products of a state and a memory.

void cuda_multiplicative(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { multiplicative(device, job); });
}

void cuda_scaled_dot(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { scaled_dot(device, job); });
}
