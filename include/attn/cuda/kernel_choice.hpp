#pragma once
#include "attn/core/error.hpp"

// Decides which kernels a program uses on a GPU, from the GPU's compute capability and from the architecture that the
// driver's choice of the program's code was compiled for. A program built for several architectures has several copies of
// each kernel; the driver loads the best one that runs on the GPU.

namespace attn {

/// A GPU's compute capability, or the architecture that code was compiled for.
struct GpuArchitecture {
  int major = 0, minor = 0;
  bool specific = false;  // code only: compiled with the suffix `a`, for this architecture alone

  /// The value for CMAKE_CUDA_ARCHITECTURES that is best for a GPU of this compute capability.
  std::string cmake_value() const {
    return std::to_string(major) + std::to_string(minor) + (major == 9 && minor == 0 ? "a" : "");
  }
};

struct KernelChoice {
  bool wgmma = false;        // attention and ragged_projection use wgmma (Hopper), else mma.sync
  bool clusters = false;     // thread block clusters and programmatic dependent launch
  std::string warning = {};  // how to build for faster kernels; empty if there are none
};

/// gpu: its compute capability; code: the architecture of the code that the driver loaded; tf32: float in TF32, for which
/// attention has no wgmma kernels.
inline KernelChoice choose_kernels(GpuArchitecture gpu, GpuArchitecture code, bool tf32 = false) {
  KernelChoice choice{.wgmma = code.major == 9 && code.specific && !tf32, .clusters = code.major >= 9};
  const char* slower = gpu.major > 9 && !choice.clusters ? "decoding" : nullptr;
  if (gpu.major == 9 && !choice.wgmma && !tf32) slower = "attention";
  if (slower != nullptr)
    choice.warning = "rebuild with -DCMAKE_CUDA_ARCHITECTURES=" + gpu.cmake_value() + " for faster " + slower;
  return choice;
}

/// "NVIDIA H200 (compute capability 9.0): wgmma attention kernels", and the warning.
inline std::string describe_kernels(const std::string& name, GpuArchitecture gpu, const KernelChoice& choice) {
  return name + " (compute capability " + std::to_string(gpu.major) + "." + std::to_string(gpu.minor) +
         "): " + (choice.wgmma ? "wgmma" : "mma.sync") + " attention kernels" +
         (choice.warning.empty() ? "" : "; warning: " + choice.warning);
}

inline constexpr int kOldestCapability = 8;  // bfloat16 on tensor cores, asynchronous copies

/// Throws an Error for a GPU that attn does not support.
inline void require_supported(int index, const std::string& name, GpuArchitecture gpu) {
  require(gpu.major >= kOldestCapability, "cannot use GPU ", index, ", ", name, ": its compute capability is ", gpu.major,
          ".", gpu.minor, ", and attn needs ", kOldestCapability, ".0 or later. Choose another GPU, or the device cpu.");
}

}  // namespace attn
