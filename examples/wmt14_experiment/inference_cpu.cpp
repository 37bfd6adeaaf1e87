#include "attn/run/cpu_models.hpp"
#include "inference_on.hpp"

std::vector<InferenceTime> measure_on_cpu(const InferenceWork& work, const attn::DeviceOptions& device) {
  return inference::measure_on<attn::Cpu<float>>(work, device);
}
