#pragma once
#include <filesystem>
#include <memory>
#include <mutex>

#include "attn/cuda.cuh"
#include "attn/run/model_on.hpp"

namespace attn {

/// A GPU's plans of matrix products stay in a file, so that a training that goes on, or another one, does not time
/// algorithms again.
template <class Device>
struct CudaMaker {
  static constexpr bool kFloat = std::is_same_v<typename Device::Scalar, float>;
  static constexpr const char* name = kFloat ? "cuda float" : "cuda bf16";

  static std::unique_ptr<Device> make(const DeviceOptions& options) {
    auto device = std::make_unique<Device>(CudaOptions{.gpu = options.gpu, .tf32 = options.tf32});
    const std::lock_guard lock(mutex());
    read(*device, options);
    return device;
  }
  static void keep(Device& device, const DeviceOptions& options) {
    if (options.plans.empty()) return;
    const std::lock_guard lock(mutex());
    read(device, options);  // what others have found since
    device.plans.save(file(options), device.description());
  }

 private:
  static std::filesystem::path file(const DeviceOptions& options) {
    return options.plans / (kFloat ? "plans_float.txt" : "plans_bf16.txt");
  }
  static void read(Device& device, const DeviceOptions& options) {
    if (!options.plans.empty() && std::filesystem::exists(file(options)))
      device.plans.load(file(options), device.description());
  }
  static std::mutex& mutex() {  // of several threads, each with a device of its own
    static std::mutex one;
    return one;
  }
};
template <>
struct DeviceMaker<Cuda<float>> : CudaMaker<Cuda<float>> {};
template <>
struct DeviceMaker<Cuda<bfloat16>> : CudaMaker<Cuda<bfloat16>> {};

}  // namespace attn
