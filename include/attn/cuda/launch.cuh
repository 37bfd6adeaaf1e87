#pragma once
#include "attn/core/types.hpp"
#include "attn/cuda/error.cuh"

namespace attn {

constexpr Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

/// How a kernel is spread: blocks of threads, and the shared memory each block asks for beside what it declares.
struct Spread {
  dim3 blocks;
  unsigned threads;
  std::size_t shared = 0;
};

/// Starts a kernel on the device's stream; nothing where there is no work. `what` names it if the launch fails.
template <class Device, class... Parameters, class... Arguments>
void launch(Device& device, const char* what, Spread spread, void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (spread.blocks.x == 0 || spread.blocks.y == 0 || spread.blocks.z == 0) return;
  if (spread.shared > 48 * 1024)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(spread.shared)), what);
  kernel<<<spread.blocks, spread.threads, spread.shared, device.stream()>>>(static_cast<Parameters>(arguments)...);
  check(cudaGetLastError(), what);
}

}  // namespace attn
