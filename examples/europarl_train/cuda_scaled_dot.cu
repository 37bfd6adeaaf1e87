#include "families.hpp"
#include "on_gpu.cuh"

void cuda_scaled_dot(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { scaled_dot(device, job); });
}
