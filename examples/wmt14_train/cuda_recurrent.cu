#include "models.hpp"
#include "on_gpu.cuh"
#include "run.hpp"

void cuda_recurrent(const Options& options, const Corpus& corpus) {
  on_gpu(options, options.output, [&](auto& device) { run_recurrent(device, options, corpus); });
}
