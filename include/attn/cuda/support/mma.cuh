#pragma once
#include "attn/cuda/support/tensor_core.cuh"

// Warp-level matrix instructions (mma.sync.m16n8k16) on bfloat16 with float accumulation, for compute capability 8.0 and
// later, and the swizzled tiles in shared memory that they read.
//
// A tile has rows of W elements, unpadded. 16-byte chunk c of row r is stored at chunk c ^ swizzle(r), so that the
// eight rows that ldmatrix reads at once, or that cp.async writes at once, use all 32 banks.
//
// A warp computes C += A B with C of 16 x 8. Lane l holds row l / 4 + 8 * (i / 2), column 2 * (l % 4) + i % 2 in c[i]. Wider
// results are arrays of such fragments, c[4 j + i] for columns 8 j to 8 j + 7: the layout of wgmma's results, so
// ThreadPosition and round_to_a serve both.

namespace attn {

/// The chunk of row `row` that holds chunk 0.
template <int W>
__device__ constexpr int swizzle(int row) {
  return W % 64 == 0 ? row & 7 : row >> 1 & 3;
}
/// The offset of (row, col) in a tile, in elements.
template <int W>
__device__ constexpr int in_swizzled(int row, int col) {
  return row * W + ((col >> 3 ^ swizzle<W>(row)) << 3) + (col & 7);
}

/// C += A B, 16 x 8 with 16 terms. Lane l holds rows l / 4 (a0, a2) and l / 4 + 8 (a1, a3) of A and column l / 4 of B: terms
/// 2 * (l % 4) and the next in a0, a1 and b0, those 8 further on in a2, a3 and b1.
__device__ inline void mma(float* c, std::uint32_t a0, std::uint32_t a1, std::uint32_t a2, std::uint32_t a3,
                           std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
__device__ inline void mma(float* c, const std::uint32_t* a, std::uint32_t b0, std::uint32_t b1) {
  mma(c, a[0], a[1], a[2], a[3], b0, b1);
}

/// A lane's share of the addresses for ldmatrix.x4 in tiles of width W: four 8 x 8 matrices of a 16 x 16 tile, so
/// that the registers of one operand are adjacent, as the hardware requires. Down the columns for A, and for B with
/// ColumnsIn::columns; along the rows for B with ColumnsIn::rows.
template <int W, bool AlongRows = false>
struct Lanes {
  std::uint32_t row, chunk;  // bytes

  __device__ Lanes() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int r = AlongRows ? lane / 16 * 8 + lane % 8 : lane % 16, c = AlongRows ? lane / 8 % 2 : lane / 16;
    row = static_cast<std::uint32_t>(r * W * 2);
    chunk = static_cast<std::uint32_t>((c ^ swizzle<W>(r)) * 16);
  }
  /// first: the first row, a multiple of 16; k: columns 16 k to 16 k + 15.
  __device__ std::uint32_t address(std::uint32_t tile, int first, int k) const {
    // The swizzle changes the low three bits of a chunk's index, so only four sums differ by more than a constant.
    return tile + (row + (static_cast<std::uint32_t>(k % 4) * 32U ^ chunk)) +
           static_cast<std::uint32_t>(k / 4 * 128 + first * W * 2);
  }
};

/// Loads columns 0 to 16 * K - 1 of 16 * M rows of a tile, from row `first` on, as A.
template <int W, int M, int K>
__device__ void load_fragments(std::uint32_t (&a)[M][K][4], const bfloat16* tile, int first) {
  const Lanes<W> lanes;
  unrolled<M, K>([&](int m, int k) { load_matrices(a[m][k], lanes.address(shared_address(tile), first + 16 * m, k)); });
}

/// C = A Bᵀ: columns of C are N / 4 * 8 rows of a tile, from row `first` on. `a` holds the first 16 * Held columns of A; the
/// others are read from the tile `rest`.
template <int W, int M, int N, int Held>
__device__ void mma_rows(float (&c)[M][N], const std::uint32_t (&a)[M][Held][4], const Lanes<W>& lanes, std::uint32_t tile,
                         int first, std::uint32_t rest = 0) {
  unrolled<M>([&](int m) {
#pragma unroll
    for (float& x : c[m]) x = 0;
  });
  unrolled<W / 16>([&](int k) {
    std::uint32_t read[M][4];
    if (k >= Held) unrolled<M>([&](int m) { load_matrices(read[m], lanes.address(rest, 16 * m, k)); });
    unrolled<N / 8>([&](int j) {
      std::uint32_t b[4];
      load_matrices(b, Lanes<W, true>().address(tile, first + 16 * j, k));
      unrolled<M>([&](int m) {
        const std::uint32_t* const left = k < Held ? a[m][k < Held ? k : 0] : read[m];
        mma(c[m] + 8 * j, left, b[0], b[1]);
        mma(c[m] + 8 * j + 4, left, b[2], b[3]);
      });
    });
  });
}

/// C += A B: A has 16 * K columns, B is that many rows of a tile, from row `first` on, and its first N * 2 columns.
template <int W, int M, int N, int K>
__device__ void mma_columns(float (&c)[M][N], const std::uint32_t (&a)[M][K][4], const Lanes<W>& lanes, std::uint32_t tile,
                            int first) {
  unrolled<K, N / 8>([&](int k, int j) {
    std::uint32_t b[4];
    load_transposed(b, lanes.address(tile, first + 16 * k, j));
    unrolled<M>([&](int m) {
      mma(c[m] + 8 * j, a[m][k], b[0], b[1]);
      mma(c[m] + 8 * j + 4, a[m][k], b[2], b[3]);
    });
  });
}

}  // namespace attn
