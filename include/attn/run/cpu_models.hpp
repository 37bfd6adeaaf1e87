#pragma once
#include "attn/cpu.hpp"
#include "attn/run/model_on.hpp"

namespace attn {

template <>
struct DeviceMaker<Cpu<float>> {
  static constexpr const char* name = "cpu float";
  static void check(const DeviceOptions& options) { make(options); }
  static std::unique_ptr<Cpu<float>> make(const DeviceOptions& options) {
    return std::make_unique<Cpu<float>>(CpuOptions{.threads = options.threads,
                                                   .bfloat16_products = options.precision == "bf16",
                                                   .int8_weights = options.precision == "int8"});
  }
};

#ifdef ATTN_COMPILED
extern template class ModelOnDevice<Cpu<float>>;
#endif

}  // namespace attn
