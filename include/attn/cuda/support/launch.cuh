#pragma once
#include <map>
#include <mutex>

#include "attn/core/types.hpp"
#include "attn/cuda/support/error.cuh"

namespace attn {

constexpr Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

/// Launch configuration: blocks, threads per block, and dynamic shared memory per block in bytes.
struct Spread {
  dim3 blocks;
  unsigned threads;
  std::size_t shared = 0;
};

/// Bytes of shared memory that a block may use on every supported GPU: the limit of compute capability 8.6, 8.9 and 12.0.
inline constexpr std::size_t kSharedEverywhere = 99 * 1024;

/// Allows a kernel to use `bytes` of dynamic shared memory. The limit belongs to the kernel, not to the launch, and other
/// threads may launch the kernel concurrently, so the limit never shrinks.
inline void allow_shared(const char* what, const void* kernel, std::size_t bytes) {
  if (bytes <= 48 * 1024) return;
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, std::size_t> allowed;
  int gpu = 0;
  check_cuda(cudaGetDevice(&gpu), what);
  const std::lock_guard lock(mutex);
  std::size_t& most = allowed[{kernel, gpu}];
  if (bytes <= most) return;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)), what);
  most = bytes;
}

/// Launches a kernel on the device's stream, unless the grid is empty. `what` names it if the launch fails.
template <class Device, class... Parameters, class... Arguments>
void launch(Device& device, const char* what, Spread spread, void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (spread.blocks.x == 0 || spread.blocks.y == 0 || spread.blocks.z == 0) return;
  const cudaStream_t stream = device.stream();
  allow_shared(what, reinterpret_cast<const void*>(kernel), spread.shared);
  kernel<<<spread.blocks, spread.threads, spread.shared, stream>>>(static_cast<Parameters>(arguments)...);
  check_cuda(cudaGetLastError(), what);
}

/// Blocks of a kernel that the GPU runs at once.
template <class Device, class... Parameters>
Index resident_blocks(const Device& device, void (*kernel)(Parameters...), int threads) {
  int blocks = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0), "asking for occupancy");
  return Index{std::max(blocks, 1)} * device.multiprocessors();
}

inline cudaLaunchConfig_t launch_configuration(const Spread& spread, cudaStream_t stream, cudaLaunchAttribute& attribute) {
  return {spread.blocks, dim3(spread.threads), spread.shared, stream, &attribute, 1};
}

/// launch() with a launch attribute.
template <class Device, class... Parameters, class... Arguments>
void launch_with(cudaLaunchAttribute attribute, Device& device, const char* what, Spread spread,
                 void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (spread.blocks.x == 0 || spread.blocks.y == 0 || spread.blocks.z == 0) return;
  const cudaLaunchConfig_t configuration = launch_configuration(spread, device.stream(), attribute);
  allow_shared(what, reinterpret_cast<const void*>(kernel), spread.shared);
  check_cuda(cudaLaunchKernelEx(&configuration, kernel, static_cast<Parameters>(arguments)...), what);
}

}  // namespace attn
