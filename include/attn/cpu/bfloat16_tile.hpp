#pragma once
#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
#include <arm_neon.h>

#include <algorithm>

#include "attn/core/matrix.hpp"

namespace attn::cpu {

/// Products of float matrices rounded to bfloat16 (to nearest, ties to even), summed in float by BFMMLA, which adds the
/// product of 2 rows and 2 columns over a depth of 4 to a 2 x 2 block.
///
/// Both sides are packed alike, in panels: kRows rows of the left side, kColumns columns of the right side, the last of a
/// matrix with as many pairs as it needs. A panel holds, for each 4 of the depth, its pairs one after the other, each as 4
/// numbers of the one line (row or column) and 4 of the next. What is missing is zero.
struct Bfloat16Tile {
  static constexpr Index kRows = 8, kColumns = 8;

  /// Where the panel that begins with line i is, whatever the panels' width.
  static constexpr Index offset(Index depth, Index line) { return line * padded(depth); }

  /// Packs the rows of `from`: its depth is contiguous. A left side as it is, or a right side that is transposed.
  template <Index Width>
  static void pack_rows(const Matrix<const float>& from, bfloat16_t* to) {
    const Index depth = padded(from.cols);
    for (Index i = 0; i < from.rows; i += 2) {
      const Index lines = std::min(Width, from.rows - i / Width * Width);
      const Index step = (lines + 1) / 2 * 8;
      bfloat16_t* out = to + i / Width * Width * depth + i % Width * 4;
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

  /// Packs the columns of `from`: its depth goes over the rows. A transposed left side, or a right side as it is.
  template <Index Width>
  requires(Width % 8 == 0) static void pack_columns(const Matrix<const float>& from, bfloat16_t* to) {
    const Index depth = padded(from.rows);
    for (Index k = 0; k < depth; k += 4) {
      const Index deep = std::min<Index>(4, from.rows - k);
      const float* row[4];
      for (Index l = 0; l < 4; ++l) row[l] = from.row(k + std::min(l, deep - 1));
      Index j = 0;
      if (deep == 4)
        for (; j + Width <= from.cols; j += Width) {
          bfloat16_t* out = to + j * depth + k * Width;
#pragma GCC unroll 4
          for (Index w = 0; w < Width; w += 8) {
            uint16x8_t x[4];
#pragma GCC unroll 4
            for (int l = 0; l < 4; ++l) x[l] = bits(vld1q_f32(row[l] + j + w), vld1q_f32(row[l] + j + w + 4));
            interleave(x, out + w * 4);
          }
        }
      for (; j < from.cols; j += 8) {  // as above, from a copy filled up with zeros
        const Index lines = std::min(Width, from.cols - j / Width * Width), pairs = (lines + 1) / 2;
        float copy[4][8] = {};
        for (Index l = 0; l < deep; ++l) std::copy_n(row[l] + j, std::min<Index>(8, from.cols - j), copy[l]);
        uint16x8_t x[4];
        for (int l = 0; l < 4; ++l) x[l] = bits(vld1q_f32(copy[l]), vld1q_f32(copy[l] + 4));
        bfloat16_t whole[32];
        interleave(x, whole);
        std::copy_n(whole, std::min<Index>(4, pairs - j % Width / 2) * 8,
                    to + j / Width * Width * depth + k * pairs * 2 + j % Width * 4);
      }
    }
  }

  /// c = base + alpha a b from packed sides. base: c itself, or rows to begin with, which may all be one.
  static void multiply(const bfloat16_t* a, const bfloat16_t* b, Index depth, const Matrix<float>& c, float alpha,
                       const Matrix<const float>& base) {
    for (Index i = 0; i < c.rows; i += kRows)
      for (Index j = 0; j < c.cols; j += kColumns) {
        const Index rows = std::min(kRows, c.rows - i), cols = std::min(kColumns, c.cols - j);
        const Matrix<float> to(c.row(i) + j, rows, cols, c.stride);
        const Matrix<const float> from(base.row(i) + j, rows, cols, base.stride);
        pick<kRows / 2, kColumns / 2>(a + offset(depth, i), b + offset(depth, j), padded(depth), to, alpha, from);
      }
  }

 private:
  static constexpr Index padded(Index depth) { return (depth + 3) / 4 * 4; }

  static bfloat16x8_t join(float32x4_t low, float32x4_t high) { return vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(low), high); }
  static uint16x8_t bits(float32x4_t low, float32x4_t high) { return vreinterpretq_u16_bf16(join(low, high)); }

  /// Writes 8 columns of 4 rows: column after column.
  static void interleave(const uint16x8_t (&x)[4], bfloat16_t* to) {
    const auto word = [](uint16x8_t v) { return vreinterpretq_u32_u16(v); };
    const auto put = [&](int i, uint32x4_t v) { vst1q_bf16(to + i * 8, vreinterpretq_bf16_u32(v)); };
    const auto a = word(vzip1q_u16(x[0], x[1])), b = word(vzip1q_u16(x[2], x[3]));
    const auto c = word(vzip2q_u16(x[0], x[1])), d = word(vzip2q_u16(x[2], x[3]));
    put(0, vzip1q_u32(a, b)), put(1, vzip2q_u32(a, b)), put(2, vzip1q_u32(c, d)), put(3, vzip2q_u32(c, d));
  }

  /// The tile of as many pairs of rows and columns as c has.
  template <int R, int C>
  static void pick(const bfloat16_t* a, const bfloat16_t* b, Index depth, const Matrix<float>& c, float alpha,
                   const Matrix<const float>& base) {
    if constexpr (R > 1)
      if (c.rows <= 2 * R - 2) return pick<R - 1, C>(a, b, depth, c, alpha, base);
    if constexpr (C > 1)
      if (c.cols <= 2 * C - 2) return pick<R, C - 1>(a, b, depth, c, alpha, base);
    tile<R, C>(a, b, depth, c, alpha, base);
  }

  /// One tile of R pairs of rows and C pairs of columns, whose sums stay in registers: R C + R + 1 of them at least.
  template <int R, int C>
  static void tile(const bfloat16_t* a, const bfloat16_t* b, Index depth, const Matrix<float>& c, float alpha,
                   const Matrix<const float>& base) {
    constexpr int kPackets = (C + 1) / 2;    // of 4 columns
    float32x4_t sums[R][2 * kPackets] = {};  // 2 x 2 each; a last one without columns where C is odd
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
    float edge[2 * R * kWidth];  // where a tile is not whole, its sums go on from here, by the same instructions
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

}  // namespace attn::cpu
#endif
