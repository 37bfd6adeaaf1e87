#pragma once
#include "attn/core/types.hpp"

// How blocks that run at the same time (launch_cooperative) wait for each other. What each wrote before the barrier, all may read
// after it: a block's threads synchronise first, then one of them tells the others with an addition that releases, and waits with
// loads that acquire; its own threads learn it at the second __syncthreads.

namespace attn::kernels {

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

/// Waits until `expected` blocks, counted from the kernel's start, have come here.
__device__ inline void sync_blocks(unsigned* ticket, unsigned expected) {
  __syncthreads();
  if (threadIdx.x == 0) {
    arrive(ticket);
    while (arrived(ticket) < expected) {
    }
  }
  __syncthreads();
}

/// After their last barrier: the last of the blocks to leave puts both tickets back to 0.
__device__ inline void leave_blocks(unsigned* ticket, unsigned blocks) {
  if (threadIdx.x != 0 || take_ticket(ticket + 1) != blocks - 1) return;
  ticket[0] = 0;
  ticket[1] = 0;
}

}  // namespace attn::kernels
