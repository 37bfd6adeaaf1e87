#pragma once
#include <dlfcn.h>

#include "attn/core/standard.hpp"

namespace attn {

/// Utilisation of an NVIDIA GPU: the share of the driver's last sampling period, at most a second, with a running kernel.
/// Loads the driver's library NVML, so that programs need not link it. It stays loaded.
class GpuUtilisation {
 public:
  explicit GpuUtilisation(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1") {
    void* nvml = ::dlopen(library, RTLD_NOW);
    if (nvml == nullptr) return;
    const auto start = reinterpret_cast<int (*)()>(::dlsym(nvml, "nvmlInit_v2"));
    const auto find = reinterpret_cast<int (*)(const char*, void**)>(::dlsym(nvml, "nvmlDeviceGetHandleByPciBusId_v2"));
    read_ = reinterpret_cast<int (*)(void*, unsigned*)>(::dlsym(nvml, "nvmlDeviceGetUtilizationRates"));
    if (start == nullptr || find == nullptr || start() != 0 || find(pci_bus_id.c_str(), &gpu_) != 0) read_ = nullptr;
  }

  /// From 0 to 1. Empty without NVML, or if it does not report this GPU.
  std::optional<double> operator()() const {
    unsigned percent[2] = {};  // nvmlUtilization_t: kernels, memory
    if (read_ == nullptr || read_(gpu_, percent) != 0) return {};
    return percent[0] / 100.0;
  }

 private:
  void* gpu_ = nullptr;
  int (*read_)(void*, unsigned*) = nullptr;
};

}  // namespace attn
