#pragma once
#include <ostream>

#include "attn/run/models.hpp"

namespace attn {

/// Prints the device that --device selects. Throws Error if it is not available, before any text is read.
inline void print_device(std::ostream& out, const DeviceOptions& device) {
  models().check(device);
  const std::string on = backend(device);
  const GpuSupport gpus = gpu_support();
  if (on.starts_with("cuda")) {
    out << gpus.found() << "; this run is on GPU " << device.gpu << ", in " << on.substr(5) << "\n";
    if (on == "cuda bf16" || device.tf32)  // float without TF32 uses no tensor cores: the same kernel in all builds
      out << gpus.kernels(device) << "\n";
  } else if (device.device == "auto" && gpus.found != nullptr) {
    out << gpus.found() << "; this run is on the CPU\n";
  }
}

}  // namespace attn
