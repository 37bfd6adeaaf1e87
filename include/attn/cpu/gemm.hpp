#pragma once
#include "attn/cpu/bfloat16_product.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/cpu/few_rows.hpp"
#include "attn/cpu/tile.hpp"

namespace attn::cpu {

inline constexpr Index kFewRowsTransposed = 48, kFewRows = 2;  // maximum rows for which packing does not pay off
inline constexpr Index kRowsInPlace = 24;                      // the same for a right side that tiles can read in place

// Block sizes. The right side is packed into panels; a transposed left side is transposed. Both blocks stay in the caches.
inline constexpr Index kBlockDepth = 512, kBlockColumns = 192, kBlockRows = 65;

/// c = base + alpha a b on the calling thread, with a and b transposed first if their flags say so. base: c itself, or one
/// row with stride 0 for all rows. If c is a tile of a larger product, whole_rows is the number of rows of that product: the
/// order of summation must not depend on the tiling.
template <bool TransposeA, bool TransposeB, class T>
void gemm_from(Matrix<const T> base, Cpu<T>& device, int thread, Matrix<const T> a, Matrix<const T> b, Matrix<T> c, T alpha,
               Index whole_rows) {
  const Index depth = TransposeA ? a.rows : a.cols;
  if (c.rows == 0 || c.cols == 0) return;
  [[maybe_unused]] const Index rows = std::max(c.rows, whole_rows);
  const bool few = !TransposeA && rows <= (TransposeB ? kFewRowsTransposed : kFewRows);
  if ((few || depth == 0) && base.data != c.data)
    for (Index i = 0; i < c.rows; ++i) std::copy_n(base.row(i), c.cols, c.row(i));
  if constexpr (!TransposeA && TransposeB)
    if (few) return few_rows_transposed(a, b, c, alpha);
  if constexpr (!TransposeA && !TransposeB)
    if (few) return few_rows(a, b, c, alpha);
#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
  if constexpr (std::is_same_v<T, float>)
    if (device.options().bfloat16_products) {
      using Product = Bfloat16Product<TransposeA, TransposeB>;
      auto* space = reinterpret_cast<bfloat16_t*>(device.workspace(thread, (Product::kSpace + 1) / 2));
      return Product::run(base, a, b, c, alpha, space);
    }
#endif
  const auto part = [](auto matrix, bool transposed, Index i, Index height, Index j, Index width) {
    return transposed ? matrix.row_range(j, width).columns(i, height) : matrix.row_range(i, height).columns(j, width);
  };
  if constexpr (!TransposeA && !TransposeB) {  // the same tiles as below, so the same bits
    const Index whole = c.cols - c.cols % Panels<T>::kColumns;
    if (c.rows <= kRowsInPlace && whole > 0) {
      for (Index k = 0; k < depth; k += kBlockDepth)
        for (Index j = 0; j < whole; j += Panels<T>::kColumns) {
          const auto to = c.columns(j, Panels<T>::kColumns);
          Tile<T>::run(a.columns(k, std::min(kBlockDepth, depth - k)), b.row(k) + j, b.stride, to, alpha,
                       k == 0 ? base.columns(j, to.cols) : Matrix<const T>(to));
        }
      if (whole < c.cols) {
        const Index rest = c.cols - whole;
        gemm_from<false, false, T>(base.columns(whole, rest), device, thread, a, b.columns(whole, rest),
                                   c.columns(whole, rest), alpha, rows);
      }
      return;
    }
  }
  T* space = device.workspace(thread, (kBlockColumns + kBlockRows) * kBlockDepth);
  T* transposed = space + kBlockColumns * kBlockDepth;
  for (Index j = 0; j < c.cols; j += kBlockColumns)
    for (Index k = 0; k < depth; k += kBlockDepth) {
      const Index width = std::min(kBlockColumns, c.cols - j), deep = std::min(kBlockDepth, depth - k);
      Panels<T> panels(space, deep, width);
      panels.fill(part(b, TransposeB, k, deep, j, width), TransposeB);
      for (Index i = 0; i < c.rows; i += kBlockRows) {
        const Index height = std::min(kBlockRows, c.rows - i);
        auto left = part(a, TransposeA, i, height, k, deep);
        if constexpr (TransposeA) {
          const Matrix<T> block(transposed, height, deep);
          transpose(left, block);
          left = block;
        }
        const auto to = c.row_range(i, height).columns(j, width);
        panels.multiply(left, to, alpha, k == 0 ? base.row_range(i, height).columns(j, width) : Matrix<const T>(to));
      }
    }
}

/// c += alpha a b
template <bool TransposeA = false, bool TransposeB = false, class T>
void gemm(Cpu<T>& device, int thread, Matrix<const T> a, Matrix<const T> b, Matrix<T> c, T alpha = 1,
          Index whole_rows = 0) {
  gemm_from<TransposeA, TransposeB, T>(c, device, thread, a, b, c, alpha, whole_rows);
}

}  // namespace attn::cpu
