#include "attn/run/cuda_models.cuh"
#include "attn/run/library_models.hpp"
#include "attn/run/recurrent_models.hpp"
#include "models.hpp"

template class attn::ModelOnDevice<attn::Cuda<float>>;

void attn::add_cuda_float_models(ModelRegistry& registry) {
  add_library_models<Cuda<float>>(registry);
  add_recurrent_models<Cuda<float>>(registry);
}

attn::GpuSupport attn::cuda_support() {
  const auto describe = [](const DeviceOptions& options) {
    const cudaDeviceProp properties = choose_gpu(options.gpu);
    return describe_kernels(properties.name, capability_of(properties), find_kernels(properties, options.tf32));
  };
  return {.count = cuda_gpus, .found = cuda_found, .check = [](int gpu) { choose_gpu(gpu); }, .kernels = describe};
}
