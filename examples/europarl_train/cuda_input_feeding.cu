#include "families.hpp"
#include "on_gpu.cuh"

void cuda_input_feeding(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { input_feeding(device, job); });
}
