#include "families.hpp"
#include "on_gpu.cuh"

void cuda_transformer(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { transformer(device, job); });
}
