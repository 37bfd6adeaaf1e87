#pragma once
#include <filesystem>

#include "attn/cuda.cuh"
#include "options.hpp"

/// run(device) on the GPU, and in the precision, that the options name. Plans of matrix products stay in the output folder: a
/// training that goes on does not time algorithms again.
template <class Run>
void on_gpu(const Options& options, const Run& run) {
  const auto run_on = [&](auto&& device) {
    const auto plans = options.output / ("plans_" + options.precision + ".txt");
    if (std::filesystem::exists(plans)) device.plans.load(plans, device.description());
    run(device);
    device.plans.save(plans, device.description());
  };
  const attn::CudaOptions chosen{.gpu = options.gpu, .tf32 = options.tf32};
  if (options.precision == "float")
    run_on(attn::Cuda<float>(chosen));
  else
    run_on(attn::Cuda<attn::bfloat16>(chosen));
}
