#pragma once
#include <map>
#include <mutex>
#include <utility>

#include "attn/core/types.hpp"
#include "attn/cuda/support/error.cuh"

namespace attn {

constexpr Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

/// How a kernel is spread: blocks of threads, and the shared memory each block asks for beside what it declares.
struct Spread {
  dim3 blocks;
  unsigned threads;
  std::size_t shared = 0;
};

/// Lets a kernel use so much shared memory. The limit is the kernel's, not the launch's, and threads with devices of their own launch
/// it at the same time: it only ever grows.
inline void allow_shared(const char* what, const void* kernel, std::size_t bytes) {
  if (bytes <= 48 * 1024) return;
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, std::size_t> allowed;
  int gpu = 0;
  check(cudaGetDevice(&gpu), what);
  const std::lock_guard lock(mutex);
  std::size_t& most = allowed[{kernel, gpu}];
  if (bytes <= most) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)), what);
  most = bytes;
}

/// Starts a kernel on the device's stream; nothing where there is no work. `what` names it if the launch fails.
template <class Device, class... Parameters, class... Arguments>
void launch(Device& device, const char* what, Spread spread, void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (spread.blocks.x == 0 || spread.blocks.y == 0 || spread.blocks.z == 0) return;
  const cudaStream_t stream = device.stream();
  allow_shared(what, reinterpret_cast<const void*>(kernel), spread.shared);
  kernel<<<spread.blocks, spread.threads, spread.shared, stream>>>(static_cast<Parameters>(arguments)...);
  check(cudaGetLastError(), what);
}

}  // namespace attn
