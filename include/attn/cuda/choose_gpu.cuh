#pragma once
#include "attn/cuda/kernel_choice.hpp"
#include "attn/cuda/support/error.cuh"

// The GPUs of this machine, and the code that this program has for them.

namespace attn {

/// The kernel find_architecture. For files that nvcc does not compile, src/cuda_ops_float.cu has it.
template <class = void>
const void* architecture_kernel();

#ifdef __CUDACC__
namespace kernels {

/// The architecture that the loaded code was compiled for.
static __global__ void find_architecture(GpuArchitecture* found) {
#ifdef __CUDA_ARCH__
  found->major = __CUDA_ARCH__ / 100;
  found->minor = __CUDA_ARCH__ % 100 / 10;
#endif
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  found->specific = true;
#else
  found->specific = false;
#endif
}

}  // namespace kernels

template <class T>
const void* architecture_kernel() {
  return reinterpret_cast<const void*>(kernels::find_architecture);
}
#endif

/// The number of GPUs; 0 without a driver or with one that is too old.
inline int cuda_gpus() {
  int gpus = 0;
  const cudaError_t status = cudaGetDeviceCount(&gpus);
  (void)cudaGetLastError();
  return status == cudaSuccess ? gpus : 0;
}

/// The driver, runtime and GPUs found, and those needed, as text for error messages.
inline std::string cuda_found() {
  int driver = 0, runtime = 0, gpus = 0;
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  const cudaError_t status = cudaGetDeviceCount(&gpus);
  (void)cudaGetLastError();
  const auto version = [](int number) { return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10); };
  std::string found = "CUDA runtime " + version(runtime);
  if (driver == 0) return found + ", no NVIDIA driver";
  found += ", a driver for CUDA " + version(driver);
  if (status == cudaErrorInsufficientDriver) return found + ", which is too old for this runtime";
  if (status == cudaErrorNoDevice) return found + ", but no visible GPU (check CUDA_VISIBLE_DEVICES)";
  if (status != cudaSuccess) return found + ": " + cudaGetErrorString(status);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, gpu) != cudaSuccess) continue;
    found += ", GPU " + std::to_string(gpu) + ": " + properties.name + " (compute capability " +
             std::to_string(properties.major) + "." + std::to_string(properties.minor) + ")";
  }
  return found;
}
inline std::string cuda_needed() {
  return "attn needs a driver for CUDA " + std::to_string(CUDART_VERSION / 1000) + " and a GPU of compute capability " +
         std::to_string(kOldestCapability) + ".0 or later";
}

inline GpuArchitecture capability_of(const cudaDeviceProp& properties) { return {properties.major, properties.minor}; }

/// Makes a GPU current. Throws an Error if this program cannot run on it.
inline cudaDeviceProp choose_gpu(int gpu) {
  require(gpu >= 0 && gpu < cuda_gpus(), "there is no GPU ", gpu, ": found ", cuda_found(), "; ", cuda_needed());
  cudaDeviceProp properties;
  check_cuda(cudaSetDevice(gpu), "choosing the GPU");
  check_cuda(cudaGetDeviceProperties(&properties, gpu), "querying GPU properties");
  require_supported(gpu, properties.name, capability_of(properties));
  cudaFuncAttributes attributes;
  const cudaError_t status = cudaFuncGetAttributes(&attributes, architecture_kernel());
  if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction)
    fail("this program has no code for GPU ", gpu, ", ", properties.name,
         ": rebuild it with -DCMAKE_CUDA_ARCHITECTURES=", capability_of(properties).cmake_value());
  check_cuda(status, "looking for this program's code");
  return properties;
}

inline KernelChoice find_kernels(const cudaDeviceProp& properties, bool tf32 = false) {
  GpuArchitecture code, *place = nullptr;
  check_cuda(cudaMalloc(&place, sizeof code), "looking for this program's code");
  void* arguments[] = {&place};
  const cudaError_t launched = cudaLaunchKernel(architecture_kernel(), dim3(1), dim3(1), arguments, 0, nullptr);
  const cudaError_t status = cudaMemcpy(&code, place, sizeof code, cudaMemcpyDeviceToHost);  // waits for the kernel
  (void)cudaFree(place);
  check_cuda(launched, "the first kernel");
  check_cuda(status, "the first kernel");
  return choose_kernels(capability_of(properties), code, tf32);
}

}  // namespace attn
