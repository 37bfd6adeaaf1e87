#pragma once
#include <filesystem>
#include <mutex>

#include "attn/cuda.cuh"
#include "place.hpp"

inline std::mutex plan_files;  // of several threads, each with a device of its own

/// run(device) on the GPU, and in the precision, that a place names. Plans of matrix products stay in a folder: a training
/// that goes on, or another one, does not time algorithms again.
template <class Run>
void on_gpu(const Place& place, const std::filesystem::path& folder, const Run& run) {
  const auto run_on = [&](auto&& device) {
    const auto plans = folder / ("plans_" + place.precision + ".txt");
    const auto load = [&] {
      if (std::filesystem::exists(plans)) device.plans.load(plans, device.description());
    };
    {
      const std::lock_guard lock(plan_files);
      load();
    }
    run(device);
    const std::lock_guard lock(plan_files);
    load();  // what others have found since
    device.plans.save(plans, device.description());
  };
  const attn::CudaOptions chosen{.gpu = place.gpu, .tf32 = place.tf32};
  if (place.precision == "float")
    run_on(attn::Cuda<float>(chosen));
  else
    run_on(attn::Cuda<attn::bfloat16>(chosen));
}
