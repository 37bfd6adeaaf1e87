#pragma once
#include "attn/cuda/support/launch.cuh"

// Programmatic dependent launch: a kernel's blocks come to their multiprocessors while the kernel before them still ends, and wait
// there. A step of a decoder is a row of small kernels, each of which would otherwise take a microsecond to begin.
//
// A kernel that is launched so calls wait_for_earlier() before it reads what the kernel before it wrote and before it writes
// anything; until then it may only read what no kernel of the stream writes meanwhile, such as weights. Every thread that touches
// memory calls it. What the kernel before waited for is done by then, too: it waited itself. And as every kernel lets the next begin
// only after it has waited, all kernels but the one before are done when a kernel begins: what they wrote may be read at once.

namespace attn {

/// Until all kernels before this one are done, and what they wrote can be read.
__device__ inline void wait_for_earlier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The next kernel's blocks may come; they wait until this kernel is done.
__device__ inline void let_next_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Asks for what is at an address to be brought to the cache that all multiprocessors share: what a kernel can do while it waits.
__device__ inline void prefetch(const void* from) { asm volatile("prefetch.global.L2 [%0];" ::"l"(from)); }

/// Starts a kernel that waits for itself; as launch() does, where the kernels were compiled for GPUs that cannot.
template <class Device, class... Parameters, class... Arguments>
void launch_overlapping(Device& device, const char* what, Spread spread, void (*kernel)(Parameters...),
                        const Arguments&... arguments) {
  if (!device.has_wgmma()) return launch(device, what, spread, kernel, arguments...);
  if (spread.blocks.x == 0 || spread.blocks.y == 0 || spread.blocks.z == 0) return;
  const cudaStream_t stream = device.stream();
  allow_shared(what, reinterpret_cast<const void*>(kernel), spread.shared);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = spread.blocks;
  config.blockDim = dim3(spread.threads);
  config.dynamicSmemBytes = spread.shared;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), what);
}

}  // namespace attn
