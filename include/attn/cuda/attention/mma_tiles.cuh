#pragma once
#include "attn/cuda/attention/tiles.cuh"
#include "attn/cuda/support/mma.cuh"

// Shared by the attention kernels that use mma.sync, in bfloat16 or, with T = float, in TF32. A block has 4 warps. A warp owns
// 16 * M rows of a head: queries, or keys in the kernel of dK and dV. It keeps its rows and its results in registers and reads
// tiles of the other side from two slots of shared memory, one of which is being filled. Heads are padded to W columns with
// zeros.
//
// In bytes, a tile of floats is one of bfloat16 for heads twice as wide: rules of shared memory and of the rows of tiles
// depend on the bytes of a row. Rules of registers depend on W and T.
//
// M = 2 halves the shared memory traffic per product and suits long sentences. M = 1 needs fewer registers, which wide heads
// require, and makes 64-row blocks for short sentences.

namespace attn::kernels {

inline constexpr unsigned kMmaThreads = 128;

/// Whether a row takes more than 256 bytes.
template <class T, int W>
inline constexpr bool kMmaWide = W * sizeof(T) > 256;

/// Rows of the tiles that a block iterates over. Two slots of two tiles use at most 32 KiB.
template <class T, int W>
inline constexpr int kMmaTile = kMmaWide<T, W>        ? 16
                                : W * sizeof(T) > 128 ? 32
                                                      : 64;

/// Columns of dK and dV per block, limited by a warp's registers.
inline constexpr int kMmaColumns = 128;

/// Whether the current architecture launches a kernel for heads of W columns. On Hopper, wgmma handles heads of up to 128
/// columns in bfloat16.
template <class T, int W>
__device__ constexpr bool is_mma_launched() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800
  return false;
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
  return W > 128 || std::is_same_v<T, float>;
#else
  return true;
#endif
}

/// Shared memory of a gradient kernel, in elements: two slots of two tiles, and `Tiles` tiles of the block's own rows. The
/// first of these overlaps the second slot, or both slots if 48 KiB would be exceeded. Heads with rows of more than 256 bytes
/// keep `Kept` own tiles.
template <class T, int W, int M, int Tiles, int Kept>
struct MmaLayout {
  static constexpr int tile = kMmaTile<T, W> * W, slot = 2 * tile, own = 64 * M * W;
  static constexpr bool wide = kMmaWide<T, W>, exceeds = (slot + Tiles * own) * sizeof(T) > 48 * 1024;
  static constexpr bool overlaps_first = wide ? Kept < Tiles : exceeds;
  static constexpr int own_at = wide ? (Kept < Tiles ? 0 : 2 * slot) : overlaps_first ? 0 : slot;
  static constexpr int size = own_at + Tiles * own > 2 * slot ? own_at + Tiles* own : 2 * slot;
  /// Whether no slot overlaps own tile i.
  __host__ __device__ static constexpr bool keeps(int i) { return own_at + i * own >= 2 * slot; }
};

/// Starts copying `Rows` rows of a head, from row `first` on, into a tile. Only `rows` of them exist; the rest are zeros.
/// All threads of the block call this.
template <int W, int Rows, class T, class U>
__device__ void fill_swizzled(T* tile, const Matrix<U>& matrix, int first, int rows, const AttentionTask<T>& task) {
  constexpr int kChunk = 16 / sizeof(T), kChunks = W / kChunk;  // elements per chunk, chunks per row
  constexpr int kLanes = kChunks <= 4 ? 4 : kChunks <= 8 ? 8 : 16, kStep = kMmaThreads / kLanes;  // per row, rows per step
  static_assert(kStep % 8 == 0 && Rows % kStep == 0);  // so the swizzle is the same in every step
  const int row = static_cast<int>(threadIdx.x) / kLanes, col = static_cast<int>(threadIdx.x) % kLanes * kChunk;
  const T* from = matrix.data + row_offset(first + row, matrix.stride) + (task.head * task.width + col);
  const Index step = row_offset(kStep, matrix.stride);
  tile += in_swizzled<T, W>(row, col);
  unrolled<Rows / kStep>([&](int i) {
#pragma unroll
    for (int side = 0; side < W; side += 16 * kChunk)
      if (side + col < W)
        copy_chunk(tile + i * kStep * W + side, from + side, side + col < task.width && row + i * kStep < rows);
    from += step;
  });
}

/// Scales a warp's 16 * M rows by a factor per row and writes the first `rows`. They pass through a tile of 16 * M rows
/// that no other warp uses. `c` is a result of mma_columns.
template <int W, int M, class T>
__device__ void store_swizzled(T* to, Index stride, bool add, int rows, int width, const float (&c)[M][W / 2],
                               const float (&factor)[M][2], T* tile) {
  constexpr int kChunk = 16 / sizeof(T), kChunks = W / kChunk;  // elements per chunk, chunks per row
  const int lane = static_cast<int>(threadIdx.x) % 32;
  unrolled<M>([&](int m) {
#pragma unroll
    for (int i = 0; i < W / 2; i += 2) {
      const int half = i / 2 % 2, row = 16 * m + lane / 4 + 8 * half, col = i / 4 * 8 + lane % 4 * 2;
      if constexpr (std::is_same_v<T, bfloat16>) {
        *reinterpret_cast<std::uint32_t*>(tile + in_swizzled<T, W>(row, col)) =
            pair(c[m][i] * factor[m][half], c[m][i + 1] * factor[m][half]);
      } else if (i % 16 < 4) {  // four fragments share 32 columns
        unrolled<2>([&](int odd) {
          Pack<T> chunk;
          unrolled<4>([&](int j) { chunk.set(j, c[m][i + odd + 4 * j] * factor[m][half]); });
          store_pack(tile + in_swizzled<T, W>(row, i / 16 * 32 + lane % 4 * 8 + odd * 4), chunk);
        });
      }
    }
  });
  __syncwarp();
  unrolled<M * kChunks / 2>([&](int i) {
    const int chunk = 32 * i + lane, row = chunk / kChunks, col = chunk % kChunks * kChunk;
    if (row < rows && col < width) put_chunk(to + row * stride + col, tile + in_swizzled<T, W>(row, col), add);
  });
  __syncwarp();  // the tile may be reused
}

/// Rounds scores or their gradients to operand A of the next product.
template <class T, int M, int N, int K>
__device__ void round_all(std::uint32_t (&a)[M][K][4], const float (&c)[M][N]) {
  static_assert(K * kMmaDepth<T> == 2 * N);
  unrolled<M, K>([&](int m, int k) { round_to_operand<T>(a[m][k], c[m], k); });
}

/// Adds the products of the elements of two words to a sum.
template <class T>
__device__ float add_products(std::uint32_t a, std::uint32_t b, float sum) {
  if constexpr (std::is_same_v<T, float>)
    return fmaf(__uint_as_float(a), __uint_as_float(b), sum);
  else
    return dot(a, b, sum);
}

/// Position of a lane's accumulators in the warp's 16 * M rows.
struct MmaPosition {
  int warp = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32, 0);  // tells the compiler that it is warp-uniform
  int lane = static_cast<int>(threadIdx.x) % 32;

  __device__ int row(int m, int half) const { return 16 * m + lane / 4 + 8 * half; }  // of c[m][4 j + 2 half + i]
  __device__ int col(int i) const { return i / 4 * 8 + lane % 4 * 2 + i % 2; }        // of c[m][i]
};

/// Shift of the causal mask, keys - queries: query i sees keys up to i + shift. Without a mask, larger than any key.
template <class T>
__device__ int causal_shift(const AttentionTask<T>& task) {
  return task.causal ? task.keys - task.queries : 1 << 30;
}

}  // namespace attn::kernels

namespace attn {

/// Widest head of the kernels that use mma.sync, in columns.
template <class T>
inline constexpr Index kMmaWidest = 512 / sizeof(T);

/// Calls f<W, M, Drop>() with the padded head width and the row tiles per warp: 2 for long sentences of heads of up to
/// WidestOfTwo columns, without dropout, whose random numbers need registers.
template <class T, int WidestOfTwo, class F>
void with_mma_shape(Index width, bool is_long, bool drop, F f) {
  const auto with_width = [&]<int W>() {
    if (drop) return f.template operator()<W, 1, true>();
    if constexpr (W <= WidestOfTwo)
      if (is_long) return f.template operator()<W, 2, false>();
    f.template operator()<W, 1, false>();
  };
  if (width <= 32) return with_width.template operator()<32>();
  if (width <= 64) return with_width.template operator()<64>();
  if (width <= 96) return with_width.template operator()<96>();
  if (width <= 128) return with_width.template operator()<128>();
  if constexpr (kMmaWidest < T >> 128) with_width.template operator()<256>();
}

}  // namespace attn
