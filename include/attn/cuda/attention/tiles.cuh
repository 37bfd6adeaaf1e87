#pragma once
#include "attn/cuda/attention/task.cuh"
#include "attn/cuda/support/tensor_core.cuh"

// Shared by the wgmma attention kernels. A warpgroup owns 64 rows of a head: queries, or keys in the kernel of dK and dV. A
// head of up to 64 columns is one tile wide, of up to 128 two (Slices); columns beyond its width are 0.

namespace attn::kernels {

inline constexpr int kRows = 64;              // rows of a tile
inline constexpr float kLog2E = 1.44269504f;  // exponentials use the hardware's ex2
inline constexpr float kLn2 = 0.693147181f;

/// A thread's warpgroup, warp and lane, and the position of its elements in a 64 x 64 accumulator.
struct ThreadPosition {
  // Broadcast from lane 0, so that the compiler knows that they are warp-uniform.
  int group = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 128, 0);
  int warp = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32 % 4, 0);
  int lane = static_cast<int>(threadIdx.x) % 32;

  __device__ int row(int half) const { return 16 * warp + lane / 4 + 8 * half; }  // of c[4 j + 2 half + i]
  __device__ int col(int j) const { return 8 * j + 2 * (lane % 4); }              // of c[4 j]
};

__device__ inline float power_of_2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Reductions over the four lanes that share a row of an accumulator.
__device__ inline float quad_sum(float x) {
  x += __shfl_xor_sync(0xffffffffU, x, 1);
  return x + __shfl_xor_sync(0xffffffffU, x, 2);
}
__device__ inline float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffU, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffU, x, 2));
}

/// Adds the products of two bfloat16 pairs to a sum.
__device__ inline float dot(std::uint32_t a, std::uint32_t b, float sum) {
  sum = fmaf(__uint_as_float(a << 16), __uint_as_float(b << 16), sum);
  return fmaf(__uint_as_float(a & 0xffff0000U), __uint_as_float(b & 0xffff0000U), sum);
}

/// Written by the kernel of dQ for the kernel of dK and dV, heads x query rows each: the log-sum-exp of each query in base
/// 2, infinite if it sees no key, and delta = rowsum(dY * Y), which is rowsum(P * dP).
struct QueryStatistics {
  float *lse, *delta;
};

/// Starts copying 64 * Tall rows of a head, from row `first` on, into tiles: Slices of them side by side, each 64 columns wide
/// and 64 * Tall rows high. Only `rows` of the rows exist; the rest are zeros. All 128 threads of a warpgroup call this.
template <int Slices, int Tall, class T>
__device__ void fill(bfloat16* tiles, const Matrix<T>& matrix, int first, int rows, const AttentionTask<bfloat16>& task) {
  constexpr int kStep = 128 / 8;  // rows at a time; a multiple of 8, so the swizzle is the same in every step
  const int thread = static_cast<int>(threadIdx.x) % 128, row = thread / 8, col = thread % 8 * 8;
  const bfloat16* from = matrix.data + row_offset(first + row, matrix.stride) + (task.head * task.width + col);
  tiles += in_tile(row, col);
#pragma unroll
  for (int i = 0; i < kRows * Tall / kStep; ++i) {
    unrolled<Slices>([&](int side) {
      copy_chunk(tiles + side * Tall * kTile, from + side * 64, row < rows - i * kStep && side * 64 + col < task.width);
    });
    tiles += kStep * 64;
    from += row_offset(kStep, matrix.stride);
  }
}

/// Issues C = A Bᵀ: A, 64 rows, in registers; the rows of B in tiles.
template <int Slices, int N>
__device__ void multiply_rows(float (&c)[N], const std::uint32_t (&a)[4 * Slices][4], const bfloat16* tiles) {
  unrolled<4 * Slices>([&](int k) {
    multiply<ColumnsIn::rows>(c, a[k], describe_tile<ColumnsIn::rows>(tiles + k / 4 * (N / 32) * kTile, k % 4), k > 0);
  });
}
/// The same with A in tiles.
template <int Slices, int N>
__device__ void multiply_rows(float (&c)[N], const bfloat16* a, const bfloat16* tiles) {
  unrolled<4 * Slices>([&](int k) {
    multiply<ColumnsIn::rows>(c, describe_tile<ColumnsIn::rows>(a + k / 4 * kTile, k % 4),
                              describe_tile<ColumnsIn::rows>(tiles + k / 4 * (N / 32) * kTile, k % 4), k > 0);
  });
}
/// Issues C = A B or C += A B: A, 64 x 16 K, in registers, B in tiles.
template <int Slices, int K>
__device__ void multiply_columns(float (&c)[Slices][32], const std::uint32_t (&a)[K][4], const bfloat16* tiles, bool add) {
  unrolled<Slices, K>([&](int slice, int k) {
    const bfloat16* const tile = tiles + (slice * (K / 4) + k / 4) * kTile;
    multiply<ColumnsIn::columns>(c[slice], a[k], describe_tile<ColumnsIn::columns>(tile, k % 4), add || k > 0);
  });
}

/// Loads a warpgroup's 64 rows of tiles as operand A.
template <int Slices>
__device__ void load_rows(std::uint32_t (&a)[4 * Slices][4], const bfloat16* tiles, int warp) {
  unrolled<4 * Slices>([&](int k) { load_a(a[k], tiles + k / 4 * kTile, 16 * warp, k % 4); });
}
template <int K>
__device__ void round_rows(std::uint32_t (&a)[K][4], const float (&c)[8 * K]) {
  unrolled<K>([&](int k) { round_to_a(a[k], c, k); });
}

/// Copies a pack of elements of a tile, or adds them.
template <class T>
__device__ void put_chunk(T* to, const T* from, bool add) {
  Pack<T> pack = load_pack(from);
  if (add) {
    const Pack<T> before = load_pack(to);
    unrolled<Pack<T>::size>([&](int j) { pack.set(j, before[j] + pack[j]); });
  }
  store_pack(to, pack);
}

/// Scales a warpgroup's 64 rows by a factor per row and writes the first `rows`. They pass through tiles that no other
/// warpgroup uses, where each warp uses only its own rows, so that stores are coalesced.
template <int Slices>
__device__ void store_rows(bfloat16* to, Index stride, bool add, int rows, int width, const float (&c)[Slices][32],
                           const float (&factor)[2], bfloat16* tiles, const ThreadPosition& at) {
  __syncwarp();
  unrolled<Slices>([&](int slice) {
#pragma unroll
    for (int i = 0; i < 32; i += 2)
      *reinterpret_cast<std::uint32_t*>(tiles + slice * kTile + in_tile(at.row(i / 2 % 2), at.col(i / 4))) =
          pair(c[slice][i] * factor[i / 2 % 2], c[slice][i + 1] * factor[i / 2 % 2]);
  });
  __syncwarp();
  unrolled<Slices, 4>([&](int slice, int i) {
    const int row = 16 * at.warp + 4 * i + at.lane / 8, col = at.lane % 8 * 8;
    if (row >= rows || slice * 64 + col >= width) return;
    put_chunk(to + row * stride + slice * 64 + col, tiles + slice * kTile + in_tile(row, col), add);
  });
}

}  // namespace attn::kernels
