#pragma once
#include "attn/cuda/support/vector_types.cuh"

// Matrix products in float arithmetic, for operands of any shape and type. 256 threads compute a tile of 64 x 64; thread
// (x, y) of 16 x 16 has rows y + 16 i and columns x + 16 j of it.

namespace attn::kernels {

inline constexpr int kPlainTerms = 16;  // terms per tile

/// Fills terms 0 to 15 of 64 lines (rows of A, columns of B): `from` is term 0 of line 0. Zeros beyond `lines` and `terms`.
template <bool TermsInRow, class T>
__device__ void fill_plain(float (&tile)[kPlainTerms][65], const T* from, Index stride, int lines, int terms) {
  for (int i = static_cast<int>(threadIdx.x); i < kPlainTerms * 64; i += 256) {
    const int term = TermsInRow ? i % kPlainTerms : i / 64, line = TermsInRow ? i / kPlainTerms : i % 64;
    const Index place = TermsInRow ? line * stride + term : term * stride + line;
    tile[term][line] = line < lines && term < terms ? to_float(from[place]) : 0;
  }
}

/// c += A B. TermsInRow: whether a row in memory holds the terms of one line, or one term of each line.
template <bool TermsInRowA, bool TermsInRowB, class T>
__device__ void add_plain(float (&c)[4][4], const T* a, Index a_stride, int rows, const T* b, Index b_stride, int cols,
                          int terms) {
  __shared__ float tile_a[kPlainTerms][65], tile_b[kPlainTerms][65];
  const int x = static_cast<int>(threadIdx.x) % 16, y = static_cast<int>(threadIdx.x) / 16;
  for (int first = 0; first < terms; first += kPlainTerms) {
    __syncthreads();  // the previous tiles have been read
    fill_plain<TermsInRowA>(tile_a, TermsInRowA ? a + first : a + first * a_stride, a_stride, rows, terms - first);
    fill_plain<TermsInRowB>(tile_b, TermsInRowB ? b + first : b + first * b_stride, b_stride, cols, terms - first);
    __syncthreads();
    float sum[4][4] = {};
    unrolled<kPlainTerms, 4>(
        [&](int t, int i) { unrolled<4>([&](int j) { sum[i][j] += tile_a[t][y + 16 * i] * tile_b[t][x + 16 * j]; }); });
    unrolled<4, 4>([&](int i, int j) { c[i][j] += sum[i][j]; });
  }
}

template <class T>
__device__ void put_plain(T* to, Index stride, const float (&c)[4][4], int rows, int cols, bool add) {
  const int x = static_cast<int>(threadIdx.x) % 16, y = static_cast<int>(threadIdx.x) / 16;
  unrolled<4, 4>([&](int i, int j) {
    if (y + 16 * i >= rows || x + 16 * j >= cols) return;
    T& place = to[(y + 16 * i) * stride + x + 16 * j];
    place = from_float<T>(c[i][j] + (add ? to_float(place) : 0));
  });
}

}  // namespace attn::kernels
