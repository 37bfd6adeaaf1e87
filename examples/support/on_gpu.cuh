#pragma once
#include <filesystem>
#include <mutex>

#include "attn/cuda.cuh"
#include "place.hpp"

inline std::mutex plan_files;  // of several threads, each with a device of its own

/// Where a folder keeps plans of matrix products; and what is there, if anything, for a device.
inline std::filesystem::path plan_file(const std::filesystem::path& folder, const Place& place) {
  return folder / ("plans_" + place.precision_on_gpu() + ".txt");
}
template <class Device>
void load_plans(Device& device, const std::filesystem::path& file) {
  if (std::filesystem::exists(file)) device.plans.load(file, device.description());
}

/// run(device) on the GPU, and in the precision, that a place names. Plans of matrix products stay in a folder: a training
/// that goes on, or another one, does not time algorithms again.
template <class Run>
void on_gpu(const Place& place, const std::filesystem::path& folder, const Run& run) {
  const auto run_on = [&](auto&& device) {
    const auto plans = plan_file(folder, place);
    {
      const std::lock_guard lock(plan_files);
      load_plans(device, plans);
    }
    run(device);
    const std::lock_guard lock(plan_files);
    load_plans(device, plans);  // what others have found since
    device.plans.save(plans, device.description());
  };
  const attn::CudaOptions chosen{.gpu = place.gpu, .tf32 = place.tf32};
  if (place.precision == "float")
    run_on(attn::Cuda<float>(chosen));
  else
    run_on(attn::Cuda<attn::bfloat16>(chosen));
}
