#include "families.hpp"
#include "on_gpu.cuh"

void cuda_multiplicative(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { multiplicative(device, job); });
}
