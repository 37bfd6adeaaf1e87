#pragma once
#include <string>

#include "attn/cuda/support/error.cuh"

namespace attn {
namespace kernels {

/// 1 where the code for this GPU was compiled for sm_90a.
static __global__ void find_wgmma(int* found) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  *found = 1;
#else
  *found = 0;
#endif
}

}  // namespace kernels

inline constexpr int kOldestCapability = 8;  // bfloat16 on tensor cores, asynchronous copies

/// How many GPUs there are; 0 too where there is no driver, or one that is too old.
inline int cuda_gpus() {
  int gpus = 0;
  const cudaError_t status = cudaGetDeviceCount(&gpus);
  (void)cudaGetLastError();
  return status == cudaSuccess ? gpus : 0;
}

/// What this program needs, and which driver, runtime and GPUs it finds: for people whose set-up is not right.
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
  if (status == cudaErrorNoDevice) return found + ", no GPU that it shows (see CUDA_VISIBLE_DEVICES)";
  if (status != cudaSuccess) return found + ", which says: " + cudaGetErrorString(status);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, gpu) != cudaSuccess) continue;
    found += ", GPU " + std::to_string(gpu) + ": " + properties.name + " (compute capability " +
             std::to_string(properties.major) + "." + std::to_string(properties.minor) + ")";
  }
  return found;
}
inline std::string cuda_needed() {
  return "needed are a driver for CUDA " + std::to_string(CUDART_VERSION / 1000) + " and a GPU of compute capability " +
         std::to_string(kOldestCapability) + ".0 or later";
}

/// Makes a GPU the current one; an Error where this program cannot run on it.
inline cudaDeviceProp choose_gpu(int gpu) {
  require(gpu >= 0 && gpu < cuda_gpus(), "there is no GPU ", gpu, ": found ", cuda_found(), "; ", cuda_needed());
  cudaDeviceProp properties;
  check(cudaSetDevice(gpu), "choosing the GPU");
  check(cudaGetDeviceProperties(&properties, gpu), "asking the GPU what it is");
  const int major = properties.major, minor = properties.minor;
  require(major >= kOldestCapability, "cannot use GPU ", gpu, ": found ", cuda_found(), "; ", cuda_needed());
  cudaFuncAttributes attributes;
  const cudaError_t status = cudaFuncGetAttributes(&attributes, kernels::find_wgmma);
  if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction)
    fail("this program has no code for GPU ", gpu, ", ", properties.name,
         ": build it with CMAKE_CUDA_ARCHITECTURES=", major, minor, major == 9 && minor == 0 ? "a" : "");
  check(status, "looking for this program's code");
  return properties;
}

}  // namespace attn
