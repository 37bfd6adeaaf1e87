#pragma once
#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
#include <arm_neon.h>

#include <algorithm>

#include "attn/core/matrix.hpp"

namespace attn::cpu {

/// Products of float matrices rounded to bfloat16 (to nearest, ties to even), accumulated in float by BFMMLA. It adds the
/// product of 2 rows and 2 columns over a depth of 4 to a 2 x 2 block.
///
/// Both sides are packed in panels of kLines lines: rows of the left side, columns of the right side. The last panel has
/// only the pairs of lines that it needs. For each 4 of the depth, a panel holds its pairs one after the other, each as 4
/// values of the first line and 4 of the second. Padding is zero.
struct Bfloat16Tile {
  static constexpr Index kLines = 8;

  /// The offset of the panel that starts with this line.
  static constexpr Index offset(Index depth, Index line) { return line * padded(depth); }

  /// Packs the rows of `from`, whose depth is contiguous: a left side, or a transposed right side.
  static void pack_rows(const Matrix<const float>& from, bfloat16_t* to) {
    for (Index i = 0; i < from.rows; i += 2) {
      const Index first = i / kLines * kLines, step = pairs(from.rows - first) * 8;
      bfloat16_t* out = to + offset(from.cols, first) + (i - first) * 4;
      const bool single = i + 1 == from.rows;
      const float *x = from.row(i), *y = single ? x : from.row(i + 1);
      Index k = 0;
      if (!single)
        for (; k + 4 <= from.cols; k += 4, out += step) vst1q_bf16(out, join(vld1q_f32(x + k), vld1q_f32(y + k)));
      for (; k < from.cols; k += 4, out += step) {
        float pair[8] = {};
        std::copy_n(x + k, std::min<Index>(4, from.cols - k), pair);
        if (!single) std::copy_n(y + k, std::min<Index>(4, from.cols - k), pair + 4);
        vst1q_bf16(out, join(vld1q_f32(pair), vld1q_f32(pair + 4)));
      }
    }
  }

  /// Packs the columns of `from`, whose depth runs over rows: a transposed left side, or a right side.
  static void pack_columns(const Matrix<const float>& from, bfloat16_t* to) {
    for (Index k = 0; k < from.rows; k += 4) {
      const Index deep = std::min<Index>(4, from.rows - k);
      const auto rounded = [](const float* row) { return bits(vld1q_f32(row), vld1q_f32(row + 4)); };
      Index j = 0;
      if (deep == 4)
        for (; j + kLines <= from.cols; j += kLines) {
          const float* row = from.row(k) + j;
          const uint16x8_t x[4] = {rounded(row), rounded(row + from.stride), rounded(row + 2 * from.stride),
                                   rounded(row + 3 * from.stride)};
          interleave(x, to + offset(from.rows, j) + k * kLines);
        }
      for (; j < from.cols; j += kLines) {  // as above, from a zero-padded copy
        float copy[4][kLines] = {};
        for (Index l = 0; l < deep; ++l) std::copy_n(from.row(k + l) + j, std::min(kLines, from.cols - j), copy[l]);
        const uint16x8_t x[4] = {rounded(copy[0]), rounded(copy[1]), rounded(copy[2]), rounded(copy[3])};
        bfloat16_t whole[4 * kLines];
        interleave(x, whole);
        const Index count = pairs(from.cols - j);
        std::copy_n(whole, count * 8, to + offset(from.rows, j) + k * count * 2);
      }
    }
  }

  /// c = base + alpha a b from packed sides. base: c itself, or initial rows, which may be one row with stride 0.
  static void multiply(const bfloat16_t* a, const bfloat16_t* b, Index depth, const Matrix<float>& c, float alpha,
                       const Matrix<const float>& base) {
    for (Index i = 0; i < c.rows; i += kLines)
      for (Index j = 0; j < c.cols; j += kLines) {
        const Index rows = std::min(kLines, c.rows - i), cols = std::min(kLines, c.cols - j);
        const Matrix<float> to(c.row(i) + j, rows, cols, c.stride);
        const Matrix<const float> from(base.row(i) + j, rows, cols, base.stride);
        pick<kLines / 2, kLines / 2>(a + offset(depth, i), b + offset(depth, j), padded(depth), to, alpha, from);
      }
  }

 private:
  static constexpr Index padded(Index depth) { return (depth + 3) / 4 * 4; }
  /// The pairs of a panel if this number of lines remains.
  static constexpr Index pairs(Index lines) { return (std::min(kLines, lines) + 1) / 2; }

  static bfloat16x8_t join(float32x4_t low, float32x4_t high) { return vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(low), high); }
  static uint16x8_t bits(float32x4_t low, float32x4_t high) { return vreinterpretq_u16_bf16(join(low, high)); }

  /// Writes 8 columns of 4 rows, column by column.
  static void interleave(const uint16x8_t (&x)[4], bfloat16_t* to) {
    const auto word = [](uint16x8_t v) { return vreinterpretq_u32_u16(v); };
    const auto put = [&](int i, uint32x4_t v) { vst1q_bf16(to + i * 8, vreinterpretq_bf16_u32(v)); };
    const auto a = word(vzip1q_u16(x[0], x[1])), b = word(vzip1q_u16(x[2], x[3]));
    const auto c = word(vzip2q_u16(x[0], x[1])), d = word(vzip2q_u16(x[2], x[3]));
    put(0, vzip1q_u32(a, b)), put(1, vzip2q_u32(a, b)), put(2, vzip1q_u32(c, d)), put(3, vzip2q_u32(c, d));
  }

  /// Selects the tile size that fits c.
  template <int R, int C>
  static void pick(const bfloat16_t* a, const bfloat16_t* b, Index depth, const Matrix<float>& c, float alpha,
                   const Matrix<const float>& base) {
    if constexpr (R > 1)
      if (c.rows <= 2 * R - 2) return pick<R - 1, C>(a, b, depth, c, alpha, base);
    if constexpr (C > 1)
      if (c.cols <= 2 * C - 2) return pick<R, C - 1>(a, b, depth, c, alpha, base);
    tile<R, C>(a, b, depth, c, alpha, base);
  }

  /// One tile of R pairs of rows and C pairs of columns. Its sums stay in registers: it takes at least R C + R + 1 of them.
  template <int R, int C>
  static void tile(const bfloat16_t* a, const bfloat16_t* b, Index depth, const Matrix<float>& c, float alpha,
                   const Matrix<const float>& base) {
    constexpr int kPackets = (C + 1) / 2;    // of 4 columns
    float32x4_t sums[R][2 * kPackets] = {};  // 2 x 2 each; if C is odd, the last one is padding
    for (Index k = 0; k < depth; k += 4, a += 8 * R, b += 8 * C) {
      bfloat16x8_t left[R];
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) left[r] = vld1q_bf16(a + 8 * r);
#pragma GCC unroll 8
      for (int p = 0; p < C; ++p) {
        const bfloat16x8_t right = vld1q_bf16(b + 8 * p);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) sums[r][p] = vbfmmlaq_f32(sums[r][p], left[r], right);
      }
    }
    const auto add = [&](const float* from, float* to, int r, int p, int half) {
      const auto x = vreinterpretq_f64_f32(sums[r][2 * p]), y = vreinterpretq_f64_f32(sums[r][2 * p + 1]);
      const auto sum = vreinterpretq_f32_f64(half == 0 ? vzip1q_f64(x, y) : vzip2q_f64(x, y));
      vst1q_f32(to, vfmaq_n_f32(vld1q_f32(from), sum, alpha));
    };
    const bool whole = c.rows == 2 * R && c.cols == 4 * kPackets;
    constexpr Index kWidth = 4 * kPackets;
    float edge[2 * R * kWidth];  // a partial tile is finished here, by the same instructions
    if (!whole)
      for (Index r = 0; r < c.rows; ++r) std::copy_n(base.row(r), c.cols, edge + r * kWidth);
    const Matrix<const float> from = whole ? base : Matrix<const float>(edge, 2 * R, kWidth);
    const Matrix<float> to = whole ? c : Matrix<float>(edge, 2 * R, kWidth);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int p = 0; p < kPackets; ++p) {
        add(from.row(2 * r) + 4 * p, to.row(2 * r) + 4 * p, r, p, 0);
        add(from.row(2 * r + 1) + 4 * p, to.row(2 * r + 1) + 4 * p, r, p, 1);
      }
    if (!whole)
      for (Index r = 0; r < c.rows; ++r) std::copy_n(edge + r * kWidth, c.cols, c.row(r));
  }
};

/// c = base + alpha a b on the calling thread, with a and b transposed first if their flags say so. The side with fewer
/// lines is packed in large blocks, which stay in the L2 cache. The other side is packed in small blocks, which pass through
/// the L1 cache. With a depth of 0, nothing is written.
template <bool TransposeA, bool TransposeB>
class Bfloat16Product {
 public:
  static constexpr Index kDepth = 1024, kLarge = 256, kSmall = 64;
  static constexpr Index kSpace = (kLarge + kSmall) * kDepth;  // values of workspace

  static void run(Matrix<const float> base, Matrix<const float> a, Matrix<const float> b, Matrix<float> c, float alpha,
                  bfloat16_t* space) {
    const Index depth = TransposeA ? a.rows : a.cols;
    const bool wide = c.rows <= c.cols;
    const Index few = wide ? c.rows : c.cols, many = wide ? c.cols : c.rows;
    bfloat16_t *large = space, *small = space + kLarge * kDepth;
    for (Index l = 0; l < few; l += kLarge)
      for (Index k = 0; k < depth; k += kDepth) {
        const Index deep = std::min(kDepth, depth - k), lines = std::min(kLarge, few - l);
        wide ? pack<TransposeA>(a, l, lines, k, deep, large) : pack<!TransposeB>(b, l, lines, k, deep, large);
        for (Index s = 0; s < many; s += kSmall) {
          const Index count = std::min(kSmall, many - s);
          wide ? pack<!TransposeB>(b, s, count, k, deep, small) : pack<TransposeA>(a, s, count, k, deep, small);
          const Index i = wide ? l : s, j = wide ? s : l, rows = wide ? lines : count, cols = wide ? count : lines;
          const auto to = c.row_range(i, rows).columns(j, cols);
          const auto from = k == 0 ? base.row_range(i, rows).columns(j, cols) : Matrix<const float>(to);
          Bfloat16Tile::multiply(wide ? large : small, wide ? small : large, deep, to, alpha, from);
        }
      }
  }

 private:
  /// Packs some lines, which are the columns of `from`, or its rows.
  template <bool Columns>
  static void pack(const Matrix<const float>& from, Index line, Index lines, Index k, Index deep, bfloat16_t* to) {
    if constexpr (Columns)
      Bfloat16Tile::pack_columns(from.row_range(k, deep).columns(line, lines), to);
    else
      Bfloat16Tile::pack_rows(from.row_range(line, lines).columns(k, deep), to);
  }
};

}  // namespace attn::cpu
#endif
