#pragma once
#include <Eigen/Core>

#include "attn/cpu/bfloat16_product.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/cpu/tile.hpp"

// Products whose left side has few rows, as in decoding steps. Eigen's product first packs both sides. That pays off for
// many rows, but takes most of the time for few.

namespace attn::cpu {

/// c(0..R, 0..O) += alpha * a(0..R) · b(0..O): R x O dot products at once, so that each loaded value is used R or O times.
/// All loops over the tile are unrolled, so that the sums stay in registers.
template <int R, int O, class T>
void dot_tile(const Matrix<const T>& a, Index i, const Matrix<const T>& b, Index j, const Matrix<T>& c, T alpha) {
  using namespace Eigen::internal;
  using Packet = typename packet_traits<T>::type;
  constexpr Index kLanes = packet_traits<T>::size;
  const T *left[R], *right[O];
  for (int r = 0; r < R; ++r) left[r] = a.row(i + r);
  for (int o = 0; o < O; ++o) right[o] = b.row(j + o);
  Packet sums[R][O];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int o = 0; o < O; ++o) sums[r][o] = pset1<Packet>(T(0));
  Index k = 0;
  for (; k + kLanes <= a.cols; k += kLanes) {
    Packet x[R], y[O];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) x[r] = ploadu<Packet>(left[r] + k);
#pragma GCC unroll 4
    for (int o = 0; o < O; ++o) y[o] = ploadu<Packet>(right[o] + k);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int o = 0; o < O; ++o) sums[r][o] = pmadd(x[r], y[o], sums[r][o]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int o = 0; o < O; ++o) {
      T sum = predux(sums[r][o]);
      for (Index rest = k; rest < a.cols; ++rest) sum += a(i + r, rest) * b(j + o, rest);
      c(i + r, j + o) += alpha * sum;
    }
}

/// c += alpha a bᵀ
template <class T>
void few_rows_transposed(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, T alpha) {
  constexpr int kTile = 4;
  const Index wide = c.cols - c.cols % kTile, tall = c.rows - c.rows % kTile;
  for (Index j = 0; j < wide; j += kTile) {
    for (Index i = 0; i < tall; i += kTile) dot_tile<kTile, kTile>(a, i, b, j, c, alpha);
    const Index rest = c.rows - tall;
    if (rest == 3) dot_tile<3, kTile>(a, tall, b, j, c, alpha);
    if (rest == 2) dot_tile<2, kTile>(a, tall, b, j, c, alpha);
    if (rest == 1) dot_tile<1, kTile>(a, tall, b, j, c, alpha);
  }
  for (Index j = wide; j < c.cols; ++j) {
    for (Index i = 0; i < tall; i += kTile) dot_tile<kTile, 1>(a, i, b, j, c, alpha);
    for (Index i = tall; i < c.rows; ++i) dot_tile<1, 1>(a, i, b, j, c, alpha);
  }
}

/// c(i, j...) += alpha a(i, :) b(:, j...) for P packets of columns whose sums stay in registers. With `cut`, the last packet
/// has only `cut` values. The same instructions compute them, so bits do not depend on where a range of columns ends.
template <int P, class T>
void row_block(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, Index i, Index j, T alpha,
               Index cut) {
  using namespace Eigen::internal;
  using Packet = typename packet_traits<T>::type;
  static constexpr Index kLanes = packet_traits<T>::size;
  const auto load = [cut](const T* from) {
    if (cut == 0) return ploadu<Packet>(from);
    T numbers[kLanes] = {};
    std::copy_n(from, cut, numbers);
    return ploadu<Packet>(numbers);
  };
  Packet sums[P];
#pragma GCC unroll 8
  for (int p = 0; p < P; ++p) sums[p] = load(c.row(i) + j + p * kLanes);
  for (Index k = 0; k < a.cols; ++k) {
    const Packet factor = pset1<Packet>(alpha * a(i, k));
    const T* row = b.row(k) + j;
#pragma GCC unroll 8
    for (int p = 0; p < P; ++p) sums[p] = pmadd(factor, load(row + p * kLanes), sums[p]);
  }
  T numbers[P * kLanes];
#pragma GCC unroll 8
  for (int p = 0; p < P; ++p) pstoreu(numbers + p * kLanes, sums[p]);
  std::copy_n(numbers, cut == 0 ? P * kLanes : cut, c.row(i) + j);
}

/// c += alpha a b
template <class T>
void few_rows(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, T alpha) {
  constexpr Index kLanes = Eigen::internal::packet_traits<T>::size;
  for (Index i = 0; i < c.rows; ++i) {
    Index j = 0;
    for (; j + 8 * kLanes <= c.cols; j += 8 * kLanes) row_block<8>(a, b, c, i, j, alpha, 0);
    for (; j + kLanes <= c.cols; j += kLanes) row_block<1>(a, b, c, i, j, alpha, 0);
    if (j < c.cols) row_block<1>(a, b, c, i, j, alpha, c.cols - j);
  }
}

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
#ifdef ATTN_BFLOAT16_PRODUCTS
  if constexpr (std::is_same_v<T, float>)
    if (device.options().bfloat16_products) {
      using Product = Bfloat16Product<TransposeA, TransposeB>;
      auto* space = reinterpret_cast<Bfloat16Tile::Value*>(device.workspace(thread, (Product::kSpace + 1) / 2));
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
