#include "on_gpu.cuh"
#include "run.hpp"

void cuda_recurrent(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { run_recurrent(device, job); });
}
