#pragma once
#include "attn/cuda/support/launch.cuh"

// Programmatic dependent launch: the blocks of a kernel become resident while the previous kernel finishes, and wait. A
// decoder step is a sequence of small kernels, each of which would otherwise take a microsecond to start.
//
// Such a kernel calls wait_for_earlier() before it reads results of the previous kernel and before it writes anything.
// Until then it may only read data that no kernel of the stream writes meanwhile, such as weights. Every thread that
// accesses memory calls it. It covers all earlier kernels, since they waited too. Each kernel lets the next one begin only
// after it has waited, so results of all kernels but the previous one may be read at once.

namespace attn {

/// Waits until all earlier kernels are done and their writes are visible.
__device__ inline void wait_for_earlier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Allows the next kernel's blocks to start; they wait until this kernel is done.
__device__ inline void let_next_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Prefetches an address into L2. A kernel may do this before wait_for_earlier().
__device__ inline void prefetch(const void* from) { asm volatile("prefetch.global.L2 [%0];" ::"l"(from)); }

/// Launches a kernel that calls wait_for_earlier(); same as launch() if its code is for GPUs without overlapping launches.
template <class Device, class... Parameters, class... Arguments>
void launch_overlapping(Device& device, const char* what, Spread spread, void (*kernel)(Parameters...),
                        const Arguments&... arguments) {
  if (!device.has_clusters()) return launch(device, what, spread, kernel, arguments...);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  launch_with(early, device, what, spread, kernel, arguments...);
}

}  // namespace attn
