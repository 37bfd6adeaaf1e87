#include "families.hpp"
#include "on_gpu.cuh"

// All of the coursework.

void cuda_input_feeding(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { input_feeding(device, job); });
}

void cuda_lexical(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { lexical(device, job); });
}

void cuda_transformer(const Job& job) {
  on_gpu(job.options, job.group(), [&](auto& device) { transformer(device, job); });
}
