#pragma once
#include "attn/cpu/bfloat16_arm.hpp"
#include "attn/cpu/bfloat16_x86.hpp"
#include "attn/cpu/device.hpp"
#ifdef ATTN_BFLOAT16_PRODUCTS

namespace attn::cpu {

/// c = base + alpha a b on the calling thread, with a and b transposed first if their flags say so. The side with fewer
/// lines is packed in large blocks, which stay in the L2 cache. The other side is packed in small blocks, which pass through
/// the L1 cache. With a depth of 0, nothing is written.
template <bool TransposeA, bool TransposeB>
class Bfloat16Product {
 public:
  static constexpr Index kDepth = 1024, kLarge = 256, kSmall = 64;
  static constexpr Index kSpace = Bfloat16Tile::size(kDepth, kLarge) + Bfloat16Tile::size(kDepth, kSmall);  // workspace

  static void run(Matrix<const float> base, Matrix<const float> a, Matrix<const float> b, Matrix<float> c, float alpha,
                  Bfloat16Tile::Value* space) {
    const Index depth = TransposeA ? a.rows : a.cols;
    const bool wide = c.rows <= c.cols;
    const Index few = wide ? c.rows : c.cols, many = wide ? c.cols : c.rows;
    Bfloat16Tile::Value *large = space, *small = space + Bfloat16Tile::size(kDepth, kLarge);
    for (Index l = 0; l < few; l += kLarge)
      for (Index k = 0; k < depth; k += kDepth) {
        const Index deep = std::min(kDepth, depth - k), lines = std::min(kLarge, few - l);
        wide ? pack_left(a, l, lines, k, deep, large) : pack_right(b, l, lines, k, deep, large);
        for (Index s = 0; s < many; s += kSmall) {
          const Index count = std::min(kSmall, many - s);
          wide ? pack_right(b, s, count, k, deep, small) : pack_left(a, s, count, k, deep, small);
          const Index i = wide ? l : s, j = wide ? s : l, rows = wide ? lines : count, cols = wide ? count : lines;
          const auto to = c.row_range(i, rows).columns(j, cols);
          const auto from = k == 0 ? base.row_range(i, rows).columns(j, cols) : Matrix<const float>(to);
          Bfloat16Tile::multiply(wide ? large : small, wide ? small : large, deep, to, alpha, from);
        }
      }
  }

 private:
  static void pack_left(const Matrix<const float>& a, Index i, Index rows, Index k, Index deep, Bfloat16Tile::Value* to) {
    Bfloat16Tile::pack<true, !TransposeA>(
        TransposeA ? a.row_range(k, deep).columns(i, rows) : a.row_range(i, rows).columns(k, deep), to);
  }
  static void pack_right(const Matrix<const float>& b, Index j, Index cols, Index k, Index deep, Bfloat16Tile::Value* to) {
    Bfloat16Tile::pack<false, TransposeB>(
        TransposeB ? b.row_range(j, cols).columns(k, deep) : b.row_range(k, deep).columns(j, cols), to);
  }
};

}  // namespace attn::cpu
#endif
