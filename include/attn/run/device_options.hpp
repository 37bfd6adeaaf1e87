#pragma once
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>

#include "attn/core/error.hpp"

namespace attn {

/// Where a program that is told at run time computes, and in which precision.
struct DeviceOptions {
  std::string device = "auto";       // cpu, cuda, or auto: a GPU if the program was built for one and finds one
  int threads = 0;                   // CPU: cores to use; 0: all
  int gpu = 0;                       // GPU: which one
  std::string precision = "auto";    // float, bf16, or int8 (CPU, to translate); auto: bf16 on a GPU, float on the CPU
  bool tf32 = false;                 // GPU in float: round the operands of matrix products to TF32
  std::filesystem::path plans = {};  // GPU: folder that keeps plans of matrix products; none: timed anew by each program
};

/// What a program can find out about GPUs; nothing where it was built without CUDA.
struct GpuSupport {
  int (*count)() = nullptr;
  std::string (*found)() = nullptr;  // driver, runtime and GPUs, in words
  void (*check)(int gpu) = nullptr;  // an Error unless the program can run on that GPU
};
#ifdef ATTN_COMPILED
GpuSupport gpu_support();  // attn::compiled has none, attn::compiled_cuda has CUDA's
#else
inline GpuSupport gpu_support() { return {}; }
#endif

/// "cpu float", "cuda float" or "cuda bf16": where a model of these options runs. What is not there is an Error, now.
inline std::string backend(const DeviceOptions& options) {
  const auto one_of = [](std::string_view what, const std::string& value, const auto&... known) {
    const std::string_view names[] = {known...};
    std::string list;
    for (std::size_t i = 0; i < std::size(names); ++i)
      list.append(i == 0 ? "" : i + 1 < std::size(names) ? ", " : " or ").append(names[i]);
    require(std::ranges::find(names, value) != std::end(names), "there is no ", what, " '", value, "': use ", list);
  };
  one_of("device", options.device, "auto", "cpu", "cuda");
  one_of("precision", options.precision, "auto", "float", "bf16", "int8");
  const GpuSupport gpus = gpu_support();
  require(options.device != "cuda" || gpus.count != nullptr,
          "this program was built without CUDA; use the device cpu, or link attn::compiled_cuda");
  const bool cuda = options.device == "cuda" || (options.device == "auto" && gpus.count != nullptr && gpus.count() > 0);
  require(!options.tf32 || (cuda && options.precision == "float"), "TF32 is for matrix products of float on a GPU");
  require(!cuda || options.precision != "int8", "int8 weights are for the device cpu; on a GPU use bf16 or float");
  if (!cuda) return "cpu float";
  gpus.check(options.gpu);
  return options.precision == "float" ? "cuda float" : "cuda bf16";
}

}  // namespace attn
