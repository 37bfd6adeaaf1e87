#include "families.hpp"
#include "on_gpu.cuh"

void cuda_key_value(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { key_value(device, job); });
}
