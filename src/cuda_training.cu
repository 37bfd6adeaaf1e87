#include "attn/cuda/device.cuh"
#include "attn/run/cuda_models.cuh"
#include "models.hpp"

template class attn::ModelOnDevice<attn::Cuda<float>>;
template class attn::ModelOnDevice<attn::Cuda<attn::bfloat16>>;

attn::GpuSupport attn::cuda_support() {
  const auto describe = [](const DeviceOptions& options) {
    const cudaDeviceProp properties = choose_gpu(options.gpu);
    return describe_kernels(properties.name, capability_of(properties), find_kernels(properties, options.tf32));
  };
  return {.count = cuda_gpus, .found = cuda_found, .check = [](int gpu) { choose_gpu(gpu); }, .kernels = describe};
}
