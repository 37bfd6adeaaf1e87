#include "attn/run/cuda_models.cuh"
#include "inference.hpp"

std::vector<InferenceTime> measure_on_gpu(const InferenceWork& work, const attn::DeviceOptions& device) {
  if (device.precision == "float") return inference::measure_on<attn::Cuda<float>>(work, device);
  return inference::measure_on<attn::Cuda<attn::bfloat16>>(work, device);
}
