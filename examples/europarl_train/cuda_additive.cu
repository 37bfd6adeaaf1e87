#include "families.hpp"
#include "on_gpu.cuh"

void cuda_additive(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { additive(device, job); });
}
