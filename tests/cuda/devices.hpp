#pragma once
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "attn/cpu/device.hpp"
#include "cuda/backend.hpp"

// The devices under test, for TEST_CASE_TEMPLATE. An op on a GPU may be twice as far from the truth as PyTorch is. The CPU
// in float is one of the devices, so that on every machine these tests are tested themselves; it adds in plain order, and
// may be farther off. With bf16 matrix products it has what PyTorch's CPU has in bfloat16 to keep up with.

struct CpuFloat {
  static constexpr Precision precision = Precision::float32;
  static constexpr double times = 10;  // PyTorch's error
  static constexpr bool on_gpu = false;
  static std::string missing() { return {}; }
  static std::unique_ptr<Backend> make() { return make_cpu_float(); }
};
struct CpuBfloat16 {
  static constexpr Precision precision = Precision::bfloat16;
  static constexpr double times = 2;
  static constexpr bool on_gpu = false;
  static std::string missing() {
    return attn::kHasBfloat16Products ? "" : "this processor has no instructions for bf16 matrix products";
  }
  static std::unique_ptr<Backend> make() { return make_cpu_bfloat16(); }
};
struct CudaFloat {
  static constexpr Precision precision = Precision::float32;
  static constexpr double times = 2;
  static constexpr bool on_gpu = true;
  static std::string missing() { return no_gpu(); }
  static std::unique_ptr<Backend> make(int gpu = 0) { return make_cuda_float(gpu); }
};
struct CudaBfloat16 {
  static constexpr Precision precision = Precision::bfloat16;
  static constexpr double times = 2;
  static constexpr bool on_gpu = true;
  static std::string missing() { return no_gpu(); }
  static std::unique_ptr<Backend> make(int gpu = 0) { return make_cuda_bfloat16(gpu); }
};
TYPE_TO_STRING(CpuFloat);
TYPE_TO_STRING(CpuBfloat16);
TYPE_TO_STRING(CudaFloat);
TYPE_TO_STRING(CudaBfloat16);

/// Whether this machine has the device; says so where it has not.
template <class Device>
bool is_here() {
  const std::string why = Device::missing();
  if (!why.empty()) MESSAGE("skipped: ", why);
  return why.empty();
}

/// A device whose plans of matrix products are those of a file, if the environment names a folder for them in
/// ATTN_TEST_PLANS: the first program that ends leaves its plans there, and others need not time algorithms.
class PlannedBackend {
 public:
  PlannedBackend(std::unique_ptr<Backend> backend, Precision precision) : backend_(std::move(backend)) {
    const char* folder = std::getenv("ATTN_TEST_PLANS");
    if (folder == nullptr) return;
    file_ = std::filesystem::path(folder) / (precision == Precision::float32 ? "plans_float.txt" : "plans_bf16.txt");
    if (std::filesystem::exists(file_)) backend_->load_plans(file_);
  }
  ~PlannedBackend() {
    if (!file_.empty() && !std::filesystem::exists(file_) && backend_->plans() > 0) backend_->save_plans(file_);
  }
  Backend& operator*() const { return *backend_; }

 private:
  std::unique_ptr<Backend> backend_;
  std::filesystem::path file_;
};

/// The device, made once; the truth is computed in double.
template <class Device>
Backend& device_under_test() {
  static const PlannedBackend backend(Device::make(), Device::precision);
  return *backend;
}
inline Backend& truth() {
  static const std::unique_ptr<Backend> backend = make_cpu_double();
  return *backend;
}
