#pragma once
#include "attn/cuda/attention/tiles.cuh"
#include "attn/cuda/support/mma.cuh"

// Shared by the attention kernels that use mma.sync. A block has 4 warps. A warp owns 16 * M rows of a head: queries, or
// keys in the kernel of dK and dV. It keeps its rows and its results in registers and reads tiles of the other side from two
// slots of shared memory, one of which is being filled. Heads are padded to W columns with zeros.
//
// M = 2 halves the shared memory traffic per product and suits long sentences. M = 1 needs fewer registers, which wide heads
// require, and makes 64-row blocks for short sentences.

namespace attn::kernels {

inline constexpr unsigned kMmaThreads = 128;

/// Rows of the tiles that a block iterates over. Two slots of two tiles use at most 32 KiB.
template <int W>
inline constexpr int kMmaTile = W <= 64    ? 64
                                : W <= 128 ? 32
                                           : 16;

/// Columns of dK and dV per block, limited by a warp's registers.
inline constexpr int kMmaColumns = 128;

/// Whether the current architecture launches a kernel for heads of W columns. On Hopper, wgmma handles heads of up to 128.
template <int W>
__device__ constexpr bool is_mma_launched() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800
  return false;
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
  return W > 128;
#else
  return true;
#endif
}

/// Shared memory of a gradient kernel, in elements: two slots of two tiles, and `Tiles` tiles of the block's own rows. The
/// first of these overlaps the second slot, or both slots if 48 KiB would be exceeded. Heads wider than 128 columns keep
/// `Kept` own tiles.
template <int W, int M, int Tiles, int Kept>
struct MmaLayout {
  static constexpr int tile = kMmaTile<W> * W, slot = 2 * tile, own = 64 * M * W;
  static constexpr bool overlaps_first = W > 128 ? Kept<Tiles : (slot + Tiles * own) * 2> 48 * 1024;
  static constexpr int own_at = W > 128 ? (Kept < Tiles ? 0 : 2 * slot) : overlaps_first ? 0 : slot;
  static constexpr int size = own_at + Tiles * own > 2 * slot ? own_at + Tiles* own : 2 * slot;
  /// Whether no slot overlaps own tile i.
  __host__ __device__ static constexpr bool keeps(int i) { return own_at + i * own >= 2 * slot; }
};

/// Starts copying `Rows` rows of a head, from row `first` on, into a tile. Only `rows` of them exist; the rest are zeros.
/// All threads of the block call this.
template <int W, int Rows, class T>
__device__ void fill_swizzled(bfloat16* tile, const Matrix<T>& matrix, int first, int rows,
                              const AttentionTask<bfloat16>& task) {
  constexpr int kLanes = W <= 32 ? 4 : W <= 64 ? 8 : 16, kStep = kMmaThreads / kLanes;  // threads per row, rows per step
  static_assert(kStep % 8 == 0 && Rows % kStep == 0);  // so the swizzle is the same in every step
  const int row = static_cast<int>(threadIdx.x) / kLanes, col = static_cast<int>(threadIdx.x) % kLanes * 8;
  const bfloat16* from = matrix.data + row_offset(first + row, matrix.stride) + (task.head * task.width + col);
  const Index step = row_offset(kStep, matrix.stride);
  tile += in_swizzled<W>(row, col);
  unrolled<Rows / kStep>([&](int i) {
#pragma unroll
    for (int side = 0; side < W; side += 128)
      if (side + col < W)
        copy_chunk(tile + i * kStep * W + side, from + side, side + col < task.width && row + i * kStep < rows);
    from += step;
  });
}

/// Scales a warp's 16 * M rows by a factor per row and writes the first `rows`. They pass through a tile of 16 * M rows
/// that no other warp uses.
template <int W, int M>
__device__ void store_swizzled(bfloat16* to, Index stride, bool add, int rows, int width, const float (&c)[M][W / 2],
                               const float (&factor)[M][2], bfloat16* tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  unrolled<M>([&](int m) {
#pragma unroll
    for (int i = 0; i < W / 2; i += 2) {
      const int half = i / 2 % 2, row = 16 * m + lane / 4 + 8 * half, col = i / 4 * 8 + lane % 4 * 2;
      *reinterpret_cast<std::uint32_t*>(tile + in_swizzled<W>(row, col)) =
          pair(c[m][i] * factor[m][half], c[m][i + 1] * factor[m][half]);
    }
  });
  __syncwarp();
  unrolled<M * W / 16>([&](int i) {
    const int chunk = 32 * i + lane, row = chunk / (W / 8), col = chunk % (W / 8) * 8;
    if (row < rows && col < width) put_chunk(to + row * stride + col, tile + in_swizzled<W>(row, col), add);
  });
  __syncwarp();  // the tile may be reused
}

/// Rounds scores or their gradients to operand A of the next product.
template <int M, int N>
__device__ void round_all(std::uint32_t (&a)[M][N / 8][4], const float (&c)[M][N]) {
  unrolled<M, N / 8>([&](int m, int k) { round_to_a(a[m][k], c[m], k); });
}

/// Position of a lane's accumulators in the warp's 16 * M rows.
struct MmaPosition {
  int warp = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32, 0);  // tells the compiler that it is warp-uniform
  int lane = static_cast<int>(threadIdx.x) % 32;

  __device__ int row(int m, int half) const { return 16 * m + lane / 4 + 8 * half; }  // of c[m][4 j + 2 half + i]
  __device__ int col(int i) const { return i / 4 * 8 + lane % 4 * 2 + i % 2; }        // of c[m][i]
};

/// Shift of the causal mask, keys - queries: query i sees keys up to i + shift. Without a mask, larger than any key.
__device__ inline int causal_shift(const AttentionTask<bfloat16>& task) {
  return task.causal ? task.keys - task.queries : 1 << 30;
}

}  // namespace attn::kernels

namespace attn {

/// Calls f<W, M, Drop>() with the padded head width and the row tiles per warp: 2 for long sentences without dropout, whose
/// random numbers need registers.
template <class F>
void with_mma_shape(Index width, bool is_long, bool drop, F f) {
  const auto with_width = [&]<int W>() {
    if (drop) return f.template operator()<W, 1, true>();
    if constexpr (W <= 64)
      if (is_long) return f.template operator()<W, 2, false>();
    f.template operator()<W, 1, false>();
  };
  if (width <= 32) return with_width.template operator()<32>();
  if (width <= 64) return with_width.template operator()<64>();
  if (width <= 96) return with_width.template operator()<96>();
  if (width <= 128) return with_width.template operator()<128>();
  with_width.template operator()<256>();
}

}  // namespace attn
