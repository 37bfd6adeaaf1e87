#pragma once
#include "attn/cuda.cuh"
#include "attn/run/model_on.hpp"

namespace attn {

template <class Device>
struct CudaMaker {
  static constexpr const char* name = std::is_same_v<typename Device::Scalar, float> ? "cuda float" : "cuda bf16";
  static void check(const DeviceOptions& options) { choose_gpu(options.gpu); }
  static std::unique_ptr<Device> make(const DeviceOptions& options) {
    return std::make_unique<Device>(CudaOptions{.gpu = options.gpu, .tf32 = options.tf32});
  }
};
template <>
struct DeviceMaker<Cuda<float>> : CudaMaker<Cuda<float>> {};
template <>
struct DeviceMaker<Cuda<bfloat16>> : CudaMaker<Cuda<bfloat16>> {};

#ifdef ATTN_COMPILED
extern template class ModelOnDevice<Cuda<float>>;
extern template class ModelOnDevice<Cuda<bfloat16>>;
#endif

}  // namespace attn
