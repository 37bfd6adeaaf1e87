#pragma once
#ifdef __AVX512BF16__
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "attn/core/matrix.hpp"
#include "attn/cpu/amx.hpp"

namespace attn::cpu {

/// Products of float matrices rounded to bfloat16 (to nearest, ties to even; subnormal numbers to 0), accumulated in float:
/// AMX tiles, or VDPBF16PS if the processor or the operating system has none. Both add the products of two depths at once.
///
/// A packed left side is row-major. A packed right side consists of panels of kLines columns; for each two depths, a panel
/// holds the two values of each column. Depths are padded with zeros to multiples of kDeep, as one instruction of AMX takes.
struct Bfloat16Tile {
  using Value = std::uint16_t;
  static constexpr Index kLines = 32, kDeep = 32;

  /// The offset of a left row, or of the panel that starts with this column.
  static constexpr Index offset(Index depth, Index line) { return line * stride(depth); }
  /// The values of a packed side.
  static constexpr Index size(Index depth, Index lines) { return offset(depth, (lines + kLines - 1) / kLines * kLines); }

  /// Packs one side. `by_rows`: the depth of `from` runs along its rows, as in a left side or a transposed right side;
  /// otherwise along its columns.
  template <bool left, bool by_rows>
  static void pack(const Matrix<const float>& from, Value* to) {
    const Index lines = by_rows ? from.rows : from.cols, depth = by_rows ? from.cols : from.rows;
    for (Index line = 0; line < (left ? lines : (lines + kLines - 1) / kLines * kLines); line += 16)
      for (Index k = 0; k < depth; k += kDeep) {
        const int count = left ? static_cast<int>(std::min<Index>(16, lines - line)) : 16;
        __m512i block[16];  // 16 lines of 16 pairs, or 16 pairs of 16 lines
        for (int t = 0; t < (left && by_rows ? count : 16); ++t)
          block[t] = by_rows ? two_packets<false>(from, line + t, k, line + t, k + 16)
                             : two_packets<true>(from, k + 2 * t, line, k + 2 * t + 1, line);
        if constexpr (left != by_rows) transpose(block);
        for (int t = 0; t < count; ++t)
          _mm512_storeu_si512(left ? to + offset(depth, line + t) + k
                                   : to + offset(depth, line / kLines * kLines) + (k + 2 * t) * kLines + line % kLines * 2,
                              block[t]);
      }
  }

  /// c = base + alpha a b from packed sides. base: c itself, or initial rows, which may be one row with stride 0.
  static void multiply(const Value* a, const Value* b, Index depth, const Matrix<float>& c, float alpha,
                       const Matrix<const float>& base) {
#ifdef ATTN_AMX_BF16
    if (may_use_amx()) {
      AmxTiles tiles;
      return blocks<32>(a, b, depth, c, alpha, base, [&](const Value* x, const Value* w, Index rows, float* sums) {
        constexpr float kZeros[kLines] = {};
        const Index top = std::min<Index>(16, rows), bottom = rows - top;
        tiles.shape(top, bottom);
        AmxAhead ahead{nullptr, 0};
        amx_products(x, stride(depth) * 2, w, kLines * 4, (depth + kDeep - 1) / kDeep * kDeep * 2, kZeros, sums, kLines,
                     top, bottom, ahead);
      });
    }
#endif
    blocks<kRows>(a, b, depth, c, alpha, base,
                  [&](const Value* x, const Value* w, Index rows, float* sums) { pick<kRows>(x, w, depth, rows, sums); });
  }

 private:
  static constexpr int kRows = 12;  // whose sums stay in registers

  /// An odd number of cache lines: the rows of a tile then lie in different cache sets.
  static constexpr Index stride(Index depth) { return ((depth + kDeep - 1) / kDeep | 1) * kDeep; }

  /// 16 numbers from (i, j) on and 16 from (k, l) on, one after the other or alternating. Zeros outside of the matrix.
  template <bool interleave>
  static __m512i two_packets(const Matrix<const float>& from, Index i, Index j, Index k, Index l) {
    const auto load = [&](Index row, Index col) {
      const Index count = row < from.rows ? std::clamp<Index>(from.cols - col, 0, 16) : 0;
      return count == 0 ? _mm512_setzero_ps()
                        : _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1), from.row(row) + col);
    };
    const auto rounded = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(load(k, l), load(i, j)));
    if constexpr (!interleave) return rounded;
    alignas(64) static constexpr std::uint16_t kPairs[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                                             8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    return _mm512_permutexvar_epi16(_mm512_load_si512(kPairs), rounded);
  }

  /// Transposes 16 x 16 pairs: in squares of 2, 4, 8 and 16 lines, two opposite quarters change places.
  static void transpose(__m512i (&block)[16]) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
#pragma GCC unroll 4
    for (int size = 1; size < 16; size *= 2) {
      const __mmask16 right = _mm512_test_epi32_mask(lane, _mm512_set1_epi32(size));
      const __m512i upper = _mm512_mask_add_epi32(lane, right, lane, _mm512_set1_epi32(16 - size));
      const __m512i lower =
          _mm512_mask_add_epi32(_mm512_add_epi32(lane, _mm512_set1_epi32(size)), right, lane, _mm512_set1_epi32(16));
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i)
        if ((i & size) == 0) {
          const __m512i x = block[i], y = block[i + size];
          block[i] = _mm512_permutex2var_epi32(x, upper, y);
          block[i + size] = _mm512_permutex2var_epi32(x, lower, y);
        }
    }
  }

  /// Has products(x, w, rows, sums) compute blocks of up to High rows and kLines columns, and adds them to base.
  template <Index High>
  static void blocks(const Value* a, const Value* b, Index depth, const Matrix<float>& c, float alpha,
                     const Matrix<const float>& base, const auto& products) {
    alignas(64) float sums[High * kLines];
    for (Index i = 0; i < c.rows; i += High)
      for (Index j = 0; j < c.cols; j += kLines) {
        const Index rows = std::min(High, c.rows - i);
        products(a + offset(depth, i), b + offset(depth, j), rows, sums);
        for (Index r = 0; r < rows; ++r)
          for (Index l = j; l < std::min(j + kLines, c.cols); l += 16) {
            const auto mask = static_cast<__mmask16>((1U << std::min<Index>(16, c.cols - l)) - 1);
            const __m512 from = _mm512_maskz_loadu_ps(mask, base.row(i + r) + l);
            const __m512 sum = _mm512_load_ps(sums + r * kLines + l - j);
            _mm512_mask_storeu_ps(c.row(i + r) + l, mask, _mm512_fmadd_ps(_mm512_set1_ps(alpha), sum, from));
          }
      }
  }

  template <int R>
  static void pick(const Value* x, const Value* w, Index depth, Index rows, float* sums) {
    if constexpr (R > 1)
      if (rows < R) return pick<R - 1>(x, w, depth, rows, sums);
    tile<R>(x, stride(depth), w, (depth + 1) / 2, sums);
  }

  /// The products of R rows and a panel. Not inlined, so that its loop has all registers.
  template <int R>
  [[gnu::noinline]] static void tile(const Value* x, Index x_stride, const Value* w, Index pairs, float* to) {
    __m512 sums[R][2];
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) sums[r][0] = sums[r][1] = _mm512_setzero_ps();
    for (Index k = 0; k < pairs; ++k, x += 2, w += 2 * kLines) {
      const auto left = reinterpret_cast<__m512bh>(_mm512_loadu_si512(w));
      const auto right = reinterpret_cast<__m512bh>(_mm512_loadu_si512(w + kLines));
#pragma GCC unroll 12
      for (int r = 0; r < R; ++r) {
        std::int32_t pair;
        std::memcpy(&pair, x + r * x_stride, sizeof pair);
        const auto both = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
        sums[r][0] = _mm512_dpbf16_ps(sums[r][0], both, left);
        sums[r][1] = _mm512_dpbf16_ps(sums[r][1], both, right);
      }
    }
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r)
      _mm512_store_ps(to + r * kLines, sums[r][0]), _mm512_store_ps(to + r * kLines + 16, sums[r][1]);
  }
};

}  // namespace attn::cpu
#endif
