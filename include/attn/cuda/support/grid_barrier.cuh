#pragma once
#include "attn/cuda/support/launch.cuh"

// Grid barrier for the blocks of a cooperative launch. Writes before the barrier are visible to all blocks after it: the
// threads of a block synchronise, one of them arrives with a release addition and waits with acquire loads, and the second
// __syncthreads lets the others continue.

namespace attn {
namespace kernels {

__device__ inline void arrive(unsigned* ticket) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;\n" ::"l"(ticket) : "memory");
}
__device__ inline unsigned arrived(const unsigned* ticket) {
  unsigned count;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];\n" : "=r"(count) : "l"(ticket) : "memory");
  return count;
}
__device__ inline unsigned take_ticket(unsigned* ticket) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;\n" : "=r"(before) : "l"(ticket) : "memory");
  return before;
}

/// Waits for `expected` arrivals, counted from the kernel's start.
__device__ inline void sync_blocks(unsigned* ticket, unsigned expected) {
  __syncthreads();
  if (threadIdx.x == 0) {
    arrive(ticket);
    while (arrived(ticket) < expected) {
    }
  }
  __syncthreads();
}

/// Call after the last barrier. The last block to leave resets both tickets to 0.
__device__ inline void leave_blocks(unsigned* ticket, unsigned blocks) {
  if (threadIdx.x != 0 || take_ticket(ticket + 1) != blocks - 1) return;
  ticket[0] = 0;
  ticket[1] = 0;
}

}  // namespace kernels

/// launch() for a kernel with a grid barrier: all blocks run concurrently, or the launch fails.
template <class Device, class... Parameters, class... Arguments>
void launch_cooperative(Device& device, const char* what, Spread spread, void (*kernel)(Parameters...),
                        const Arguments&... arguments) {
  if (spread.blocks.x == 0 || spread.blocks.y == 0 || spread.blocks.z == 0) return;
  const cudaStream_t stream = device.stream();
  allow_shared(what, reinterpret_cast<const void*>(kernel), spread.shared);
  const auto start = [&](Parameters... parameters) {
    void* places[] = {static_cast<void*>(&parameters)...};
    check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), spread.blocks, dim3(spread.threads),
                                           places, spread.shared, stream),
               what);
  };
  start(static_cast<Parameters>(arguments)...);
}

}  // namespace attn
