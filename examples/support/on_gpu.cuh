#pragma once
#include <filesystem>
#include <mutex>

#include "attn/cuda.cuh"
#include "place.hpp"

/// run(device) on the GPU, and in the precision, that a place names. Plans of matrix products stay in a folder: a training
/// that goes on, or another one, does not time algorithms again. Several threads may be here, each with a device of its own.
template <class Run>
void on_gpu(const Place& place, const std::filesystem::path& folder, const Run& run) {
  static std::mutex files;
  const auto run_on = [&](auto&& device) {
    const auto plans = folder / ("plans_" + place.precision + ".txt");
    const auto locked = [&](const auto& use) {
      const std::lock_guard lock(files);
      use();
    };
    locked([&] {
      if (std::filesystem::exists(plans)) device.plans.load(plans, device.description());
    });
    run(device);
    locked([&] { device.plans.save(plans, device.description()); });
  };
  const attn::CudaOptions chosen{.gpu = place.gpu, .tf32 = place.tf32};
  if (place.precision == "float")
    run_on(attn::Cuda<float>(chosen));
  else
    run_on(attn::Cuda<attn::bfloat16>(chosen));
}
