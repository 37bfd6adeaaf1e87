#pragma once
#include <iterator>

#include "attn/core/error.hpp"

namespace attn {

/// Device and precision, chosen at run time.
struct DeviceOptions {
  std::string device = "auto";     // cpu, cuda, or auto: a GPU if CUDA is built in and a GPU is present
  int threads = 0;                 // CPU: cores to use; 0: all
  int gpu = 0;                     // GPU: index
  std::string precision = "auto";  // float, bf16, or int8 (CPU, translation only); auto: bf16 on a GPU, float on the CPU
  bool tf32 = false;               // GPU in float: round the operands of matrix products, also in attention, to TF32
};

/// GPU queries; all null without CUDA.
struct GpuSupport {
  int (*count)() = nullptr;
  std::string (*found)() = nullptr;                        // description of driver, runtime and GPUs
  void (*check)(int gpu) = nullptr;                        // throws Error if the program cannot run on that GPU
  std::string (*kernels)(const DeviceOptions&) = nullptr;  // the GPU's name, compute capability and attention kernels
};
GpuSupport gpu_support();  // attn::compiled and run/models.hpp have none, attn::compiled_cuda those of CUDA

/// "cpu float", "cuda float" or "cuda bf16": the backend for these options. Throws Error if it is not available.
inline std::string backend(const DeviceOptions& options) {
  const auto one_of = [](std::string_view what, const std::string& value, const auto&... known) {
    const std::string_view names[] = {known...};
    std::string list;
    for (std::size_t i = 0; i < std::size(names); ++i)
      list.append(i == 0 ? "" : i + 1 < std::size(names) ? ", " : " or ").append(names[i]);
    require(std::ranges::find(names, value) != std::end(names), "unknown ", what, " '", value, "'. Use ", list);
  };
  one_of("device", options.device, "auto", "cpu", "cuda");
  one_of("precision", options.precision, "auto", "float", "bf16", "int8");
  const GpuSupport gpus = gpu_support();
  require(options.device != "cuda" || gpus.count != nullptr,
          "this program was built without CUDA. Use the device cpu, or link attn::compiled_cuda.");
  const bool cuda = options.device == "cuda" || (options.device == "auto" && gpus.count != nullptr && gpus.count() > 0);
  require(!options.tf32 || (cuda && options.precision == "float"), "TF32 needs a GPU and the precision float");
  require(!cuda || options.precision != "int8", "int8 weights need the device cpu. On a GPU, use bf16 or float.");
  if (!cuda) return "cpu float";
  gpus.check(options.gpu);
  return options.precision == "float" ? "cuda float" : "cuda bf16";
}

}  // namespace attn
