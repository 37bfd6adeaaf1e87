#pragma once
#include "attn/cuda/support/tensor_core.cuh"

// Warp-level matrix instructions (mma.sync) with float accumulation, for compute capability 8.0 and later, and the swizzled
// tiles in shared memory that they read. T is bfloat16 (m16n8k16), or float for TF32 (m16n8k8).
//
// A tile has rows of W elements, unpadded. 16-byte chunk c of row r is stored at chunk c ^ swizzle(r), so that the
// eight rows that ldmatrix reads at once, or that cp.async writes at once, use all 32 banks.
//
// A warp computes C += A B with C of 16 x 8. Lane l holds row l / 4 + 8 * (i / 2), column 2 * (l % 4) + i % 2 in c[i]. Wider
// results are arrays of such fragments, c[4 j + i] for columns 8 j to 8 j + 7: the layout of wgmma's results, so
// ThreadPosition and round_to_a serve both. In results of mma_columns in float, fragments j = 4 n to 4 n + 3 instead share
// columns 32 n to 32 n + 31: column i of fragment j is column 32 n + 4 i + j % 4.
//
// One instruction takes 32 bytes of each row of A and B, 16 bfloat16 or 8 floats, so fragments of both types have the same
// layout in 32-bit words, and ldmatrix loads both.

namespace attn {

/// Terms of one instruction.
template <class T>
inline constexpr int kMmaDepth = 32 / sizeof(T);

/// The chunk of row `row` that holds chunk 0.
template <class T, int W>
__device__ constexpr int swizzle(int row) {
  return W * sizeof(T) % 128 == 0 ? row & 7 : row >> 1 & 3;
}
/// The offset of (row, col) in a tile, in elements.
template <class T, int W>
__device__ constexpr int in_swizzled(int row, int col) {
  constexpr int kShift = sizeof(T) == 2 ? 3 : 2, kChunk = 1 << kShift;
  return row * W + ((col >> kShift ^ swizzle<T, W>(row)) << kShift) + (col & (kChunk - 1));
}

/// C += A B, 16 x 8 with kMmaDepth<T> terms. Lane l holds rows l / 4 (a0, a2) and l / 4 + 8 (a1, a3) of A and column l / 4 of
/// B. In bfloat16, terms 2 * (l % 4) and the next are in a0, a1 and b0, those 8 further on in a2, a3 and b1. In float, term
/// l % 4 is in a0, a1 and b0, the one 4 further on in a2, a3 and b1; the hardware ignores the low 13 bits.
template <class T = bfloat16>
__device__ void mma(float* c, std::uint32_t a0, std::uint32_t a1, std::uint32_t a2, std::uint32_t a3, std::uint32_t b0,
                    std::uint32_t b1) {
  if constexpr (std::is_same_v<T, float>)
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
template <class T = bfloat16>
__device__ void mma(float* c, const std::uint32_t* a, std::uint32_t b0, std::uint32_t b1) {
  mma<T>(c, a[0], a[1], a[2], a[3], b0, b1);
}

/// Loads 16 bytes of shared memory.
__device__ inline void load_chunk(std::uint32_t (&to)[4], std::uint32_t from) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from));
}

/// Rounds a float for TF32 products, which drop its low 13 bits. Adding a third to two thirds of the last bit that they keep
/// centres the error: its root mean square is 5 % above that of cvt.rna, which compiles to three instructions instead of
/// one. Numbers that TF32 represents do not change, nor do infinities and NaN.
__device__ inline std::uint32_t to_tf32(float x) { return __float_as_uint(x * (1 + 0x1p-10F / 3)); }

/// Rounds loaded words for products in T.
template <class T>
__device__ void round_words(std::uint32_t (&words)[4]) {
  if constexpr (std::is_same_v<T, float>) unrolled<4>([&](int i) { words[i] = to_tf32(__uint_as_float(words[i])); });
}

/// Rounds columns kMmaDepth<T> * k and following of C, as A. In float, its terms are permuted: term t is column 2 t, and
/// term t + 4 is column 2 t + 1.
template <class T, int N>
__device__ void round_to_operand(std::uint32_t (&a)[4], const float (&c)[N], int k) {
  if constexpr (std::is_same_v<T, float>)
    unrolled<4>([&](int i) { a[i] = to_tf32(c[4 * k + i % 2 * 2 + i / 2]); });
  else
    round_to_a(a, c, k);
}

/// A lane's share of the addresses for ldmatrix.x4 in tiles of width W: four 8 x 8 matrices, in float 8 x 4, of 16 rows,
/// so that the registers of one operand are adjacent, as the hardware requires. Down the columns for A, and for B with
/// ColumnsIn::columns; along the rows for B with ColumnsIn::rows.
template <class T, int W, bool AlongRows = false>
struct Lanes {
  static constexpr int row_bytes = W * sizeof(T);
  std::uint32_t row, chunk;  // bytes

  __device__ Lanes() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int r = AlongRows ? lane / 16 * 8 + lane % 8 : lane % 16, c = AlongRows ? lane / 8 % 2 : lane / 16;
    row = static_cast<std::uint32_t>(r * row_bytes);
    chunk = static_cast<std::uint32_t>((c ^ swizzle<T, W>(r)) * 16);
  }
  /// first: the first row, a multiple of 16; k: the instruction whose terms these columns are.
  __device__ std::uint32_t address(std::uint32_t tile, int first, int k) const {
    // The swizzle changes the low three bits of a chunk's index, so only four sums differ by more than a constant.
    return tile + (row + (static_cast<std::uint32_t>(k % 4) * 32U ^ chunk)) +
           static_cast<std::uint32_t>(k / 4 * 128 + first * row_bytes);
  }
};

/// Loads the columns of K instructions of 16 * M rows of a tile, from row `first` on, as A.
template <int W, class T, int M, int K>
__device__ void load_fragments(std::uint32_t (&a)[M][K][4], const T* tile, int first) {
  const Lanes<T, W> lanes;
  unrolled<M, K>([&](int m, int k) {
    load_matrices(a[m][k], lanes.address(shared_address(tile), first + 16 * m, k));
    round_words<T>(a[m][k]);
  });
}

/// C = A Bᵀ: columns of C are N / 4 * 8 rows of a tile, from row `first` on. `a` holds the first columns of A, those of Held
/// instructions; the others are read from the tile `rest`.
template <class T, int W, int M, int N, int Held>
__device__ void mma_rows(float (&c)[M][N], const std::uint32_t (&a)[M][Held][4], const Lanes<T, W>& lanes,
                         std::uint32_t tile, int first, std::uint32_t rest = 0) {
  unrolled<M>([&](int m) {
#pragma unroll
    for (float& x : c[m]) x = 0;
  });
  unrolled<W / kMmaDepth<T>>([&](int k) {
    std::uint32_t read[M][4];
    if (k >= Held)
      unrolled<M>([&](int m) {
        load_matrices(read[m], lanes.address(rest, 16 * m, k));
        round_words<T>(read[m]);
      });
    unrolled<N / 8>([&](int j) {
      std::uint32_t b[4];
      load_matrices(b, Lanes<T, W, true>().address(tile, first + 16 * j, k));
      round_words<T>(b);
      unrolled<M>([&](int m) {
        const std::uint32_t* const left = k < Held ? a[m][k < Held ? k : 0] : read[m];
        mma<T>(c[m] + 8 * j, left, b[0], b[1]);
        mma<T>(c[m] + 8 * j + 4, left, b[2], b[3]);
      });
    });
  });
}

/// C += A B: A has kMmaDepth<T> * K columns, B is that many rows of a tile, from row `first` on, and its first N * 2 columns.
template <int W, int M, int N, int K>
__device__ void mma_columns(float (&c)[M][N], const std::uint32_t (&a)[M][K][4], const Lanes<bfloat16, W>& lanes,
                            std::uint32_t tile, int first) {
  unrolled<K, N / 8>([&](int k, int j) {
    std::uint32_t b[4];
    load_transposed(b, lanes.address(tile, first + 16 * k, j));
    unrolled<M>([&](int m) {
      mma(c[m] + 8 * j, a[m][k], b[0], b[1]);
      mma(c[m] + 8 * j + 4, a[m][k], b[2], b[3]);
    });
  });
}

/// The same in float, which ldmatrix cannot transpose. The terms of A are permuted as by round_to_operand: a lane needs rows
/// 2 * (l % 4) and the next of eight. It loads whole chunks, so each gives a column to four fragments.
template <int W, int M, int N, int K>
__device__ void mma_columns(float (&c)[M][N], const std::uint32_t (&a)[M][K][4], const Lanes<float, W>&, std::uint32_t tile,
                            int first) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::uint32_t lanes[2];
  unrolled<2>(
      [&](int i) { lanes[i] = static_cast<std::uint32_t>(in_swizzled<float, W>(lane % 4 * 2 + i, lane / 4 * 4) * 4); });
  unrolled<K, N / 16>([&](int k, int j) {
    std::uint32_t b[2][4];
    unrolled<2>([&](int i) {
      load_chunk(b[i], tile + lanes[i] + static_cast<std::uint32_t>((first + 8 * k) * W * 4 + j * 128));
      round_words<float>(b[i]);
    });
    unrolled<M, 4>([&](int m, int i) { mma<float>(c[m] + 16 * j + 4 * i, a[m][k], b[0][i], b[1][i]); });
  });
}

}  // namespace attn
