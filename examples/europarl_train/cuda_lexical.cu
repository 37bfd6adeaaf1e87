#include "families.hpp"
#include "on_gpu.cuh"

void cuda_lexical(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { lexical(device, job); });
}
