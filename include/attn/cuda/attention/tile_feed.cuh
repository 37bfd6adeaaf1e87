#pragma once
#include "attn/cuda/attention/tiles.cuh"

namespace attn::kernels {

/// Barriers in shared memory on which some threads arrive and others wait. A barrier's phases alternate between parity 0 and
/// 1; waiting for a parity waits until that phase is over.
__device__ inline void init_barrier(std::uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
__device__ inline void arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(shared_address(barrier)) : "memory");
}
__device__ inline void wait_for_phase(std::uint64_t* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred over;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@!over bra again;\n}\n" ::"r"(
          shared_address(barrier)),
      "r"(parity)
      : "memory");
}

/// Shared memory of a wgmma attention block, in elements: slots for the pairs of tiles that the block iterates over, 64 *
/// Tall rows each; `Own` tiles of 64 rows for each of the Groups warpgroups that multiply; then the barriers of its TileFeed.
/// Two slots are enough for a pair's first tile if it is not read after its turn (`Brief`) and nobody copies far ahead.
template <int Slices, int Groups, int Tall, int Own, bool Brief>
struct FeedLayout {
  static constexpr int slots = Groups == 1 || Tall > 1 ? 3 : 4, first_slots = Groups == 1 && Brief ? 2 : slots;
  static constexpr int tile = Tall * Slices * kTile, own = Slices * kTile;
  static constexpr int own_at = (first_slots + slots) * tile, barriers_at = own_at + Groups * Own * own;
  static constexpr int size = barriers_at + 2 * slots * 4;
  static constexpr unsigned threads = Groups == 1 ? 128 : 128 * (Groups + 1);

  /// A turn's first and second tile.
  __device__ static int first(int turn) { return turn % first_slots * tile; }
  __device__ static int second(int turn) { return (first_slots + turn % slots) * tile; }
};

/// Gives a block one slot of tiles after another.
///
/// One warpgroup, for short sentences: it copies the next tiles while it works on the current ones. More, for long
/// sentences: a further warpgroup does nothing but copy, as far ahead as there are slots, and leaves its registers to the
/// others. These do not wait for each other, so one computes exponentials while another multiplies.
///
/// fill(turn) starts the copies of a turn's tiles.
template <int Groups, int Slots, class Fill>
class TileFeed {
 public:
  /// All threads of the block. At most `readers` warpgroups will call wait and release, each for every turn.
  __device__ TileFeed(bfloat16* barriers, int turns, int readers, const Fill& fill)
      : full_(reinterpret_cast<std::uint64_t*>(barriers)), turns_(turns), fill_(fill) {
    if constexpr (Groups > 1) {
      if (threadIdx.x == 0)
        for (int slot = 0; slot < Slots; ++slot) init_barrier(full_ + slot, 128), init_barrier(empty(slot), 128 * readers);
      __syncthreads();
    } else {
      fill(0);
      close_copies();
    }
  }

  /// The copying warpgroup: copies all turns.
  __device__ void copy_all() const {
    constexpr int kAhead = Slots - 2;  // turns on their way
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(Groups == 3 ? 32 : 24));
#endif
    for (int turn = 0; turn < turns_; ++turn) {
      if (turn >= Slots) wait_for_phase(empty(turn), turn / Slots - 1 & 1);
      fill_(turn);
      close_copies();
      if (turn < kAhead) continue;
      wait_for_copies<kAhead>();
      arrive(full(turn - kAhead));
    }
    wait_for_copies<0>();
    for (int turn = max(turns_ - kAhead, 0); turn < turns_; ++turn) arrive(full(turn));
  }

  /// A multiplying warpgroup, first of all.
  __device__ void begin() const {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    if constexpr (Groups > 1) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(Groups == 3 ? 160 : 240));
#endif
  }
  /// Waits for tiles that the warpgroup copied for itself alone.
  __device__ void wait_for_own(int group) const {
    close_copies();
    wait_for_copies<0>();
    asm volatile("bar.sync %0, 128;\n" ::"r"(group + 1) : "memory");
  }
  /// Waits until a turn's tiles have arrived.
  __device__ void wait(int turn) const {
    if constexpr (Groups > 1) return wait_for_phase(full(turn), turn / Slots & 1);
    wait_for_copies<0>();
    __syncthreads();
  }
  /// Call when a turn's products have been issued: a good time to copy.
  __device__ void copy_after(int turn) const {
    if (Groups > 1 || turn + 1 >= turns_) return;
    fill_(turn + 1);
    close_copies();
  }
  /// Call when no product reads a turn's tiles any more.
  __device__ void release(int turn) const {
    if constexpr (Groups > 1) arrive(empty(turn));
  }
  /// Passes over turns that the warpgroup does not need.
  __device__ void skip(int first, int last) const {
    if constexpr (Groups > 1)
      for (int turn = first; turn < last; ++turn) wait(turn), release(turn);
  }

 private:
  __device__ std::uint64_t* full(int turn) const { return full_ + turn % Slots; }
  __device__ std::uint64_t* empty(int turn) const { return full_ + Slots + turn % Slots; }

  std::uint64_t* full_;  // a barrier per slot; then a second one per slot, for when it is empty again
  int turns_;
  const Fill& fill_;
};

}  // namespace attn::kernels
