#pragma once
#include <doctest/doctest.h>

#include <cstdlib>
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
/// With products in TF32, for tests with bounds of their own.
struct CudaTf32 {
  static constexpr Precision precision = Precision::float32;
  static constexpr bool on_gpu = true;
  static std::string missing() { return no_gpu(); }
  static std::unique_ptr<Backend> make() { return make_cuda_tf32(); }
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
TYPE_TO_STRING(CudaTf32);
TYPE_TO_STRING(CudaBfloat16);

/// Whether this machine has the device; says so where it has not.
template <class Device>
bool is_here() {
  const std::string why = Device::missing();
  if (!why.empty()) MESSAGE("skipped: ", why);
  return why.empty();
}

/// The device, made once; the truth is computed in double.
template <class Device>
Backend& device_under_test() {
  static const std::unique_ptr<Backend> backend = Device::make();
  return *backend;
}
inline Backend& truth() {
  static const std::unique_ptr<Backend> backend = make_cpu_double();
  return *backend;
}
