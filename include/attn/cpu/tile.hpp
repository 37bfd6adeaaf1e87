#pragma once
#include <Eigen/Core>

#include "attn/cpu/device.hpp"

namespace attn::cpu {

/// sum + column * a[Lane]. ARM has one instruction for this, which compilers do not find. Elsewhere, broadcasting is faster.
#if EIGEN_ARCH_ARM64
template <int Lane>
[[gnu::always_inline]] inline float32x4_t add_product(float32x4_t sum, float32x4_t column, float32x4_t a) {
  asm volatile("fmla %0.4s, %1.4s, %2.s[%3]" : "+w"(sum) : "w"(column), "w"(a), "i"(Lane));
  return sum;
}
template <int Lane>
[[gnu::always_inline]] inline float64x2_t add_product(float64x2_t sum, float64x2_t column, float64x2_t a) {
  asm volatile("fmla %0.2d, %1.2d, %2.d[%3]" : "+w"(sum) : "w"(column), "w"(a), "i"(Lane));
  return sum;
}
#endif

/// A tile of a product: a few rows of the left side, read in place, and kColumns columns of the right. Sums stay in
/// registers. Each value is summed in order of the depth: its bits depend neither on the number of rows nor on the tiling.
template <class T>
struct Tile {
  using Packet = typename Eigen::internal::packet_traits<T>::type;
  static constexpr Index kLanes = Eigen::internal::packet_traits<T>::size;
  static constexpr bool kMany = EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS >= 32;
  static constexpr int kRows = kMany ? 5 : 6, kPackets = kMany ? 4 : 2;  // the sums fill the registers
  static constexpr Index kColumns = kPackets * kLanes;

  /// c = base + alpha a b for up to kColumns columns. b: a panel with rows `stride` apart, all its kColumns readable. base:
  /// c itself, or initial rows, which may be one row with stride 0.
  static void run(const Matrix<const T>& a, const T* b, Index stride, const Matrix<T>& c, T alpha, Matrix<const T> base) {
    for (Index i = 0, tiles = (a.rows + kRows - 1) / kRows; tiles > 0; --tiles) {
      const Index rows = (a.rows - i + tiles - 1) / tiles;  // of similar height: low tiles are hardly faster
      pick<kRows>(rows, a.row_range(i, rows), b, stride, c.row_range(i, rows), alpha, base.row_range(i, rows));
      i += rows;
    }
  }

 private:
  template <int R>
  static void pick(Index rows, const Matrix<const T>& a, const T* b, Index stride, const Matrix<T>& c, T alpha,
                   const Matrix<const T>& base) {
    if constexpr (R > 1)
      if (rows < R) return pick<R - 1>(rows, a, b, stride, c, alpha, base);
    multiply<R>(a, b, stride, c, alpha, base);
  }

  template <int R>
  static void multiply(const Matrix<const T>& a, const T* b, Index stride, const Matrix<T>& c, T alpha,
                       const Matrix<const T>& base) {
    using namespace Eigen::internal;
    const Index depth = a.cols;
    const T* left[R];
    Packet sums[R][kPackets];
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      left[r] = a.row(r);
#pragma GCC unroll 4
      for (int p = 0; p < kPackets; ++p) sums[r][p] = pset1<Packet>(T(0));
    }
    Index k = 0;
#if EIGEN_ARCH_ARM64
    for (; k + kLanes <= depth; k += kLanes) {
      Packet x[R];
#pragma GCC unroll 6
      for (int r = 0; r < R; ++r) x[r] = ploadu<Packet>(left[r] + k);
      add_row<0>(sums, x, b);
      add_row<1>(sums, x, b + stride);
      if constexpr (kLanes > 2) add_row<2>(sums, x, b + 2 * stride), add_row<3>(sums, x, b + 3 * stride);
      b += kLanes * stride;
    }
#endif
    for (; k < depth; ++k, b += stride) {
      Packet right[kPackets];
#pragma GCC unroll 4
      for (int p = 0; p < kPackets; ++p) right[p] = ploadu<Packet>(b + p * kLanes);
#pragma GCC unroll 6
      for (int r = 0; r < R; ++r) {
        const Packet factor = pset1<Packet>(left[r][k]);
#pragma GCC unroll 4
        for (int p = 0; p < kPackets; ++p) sums[r][p] = pmadd(factor, right[p], sums[r][p]);
      }
    }
    const Packet scale = pset1<Packet>(alpha);
    T edge[R * kColumns];  // a partial tile is finished here, by the same instructions
    const bool whole = c.cols == kColumns;
    for (int r = 0; r < R && !whole; ++r) std::copy_n(base.row(r), c.cols, edge + r * kColumns);
    const T* from = whole ? base.data : edge;
    T* to = whole ? c.data : edge;
    const Index from_stride = whole ? base.stride : kColumns, to_stride = whole ? c.stride : kColumns;
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r, from += from_stride, to += to_stride)
#pragma GCC unroll 4
      for (int p = 0; p < kPackets; ++p)
        pstoreu(to + p * kLanes, pmadd(scale, sums[r][p], ploadu<Packet>(from + p * kLanes)));
    for (int r = 0; r < R && !whole; ++r) std::copy_n(edge + r * kColumns, c.cols, c.row(r));
  }

#if EIGEN_ARCH_ARM64
  template <int Lane, int R>
  [[gnu::always_inline]] static inline void add_row(Packet (&sums)[R][kPackets], const Packet (&x)[R], const T* b) {
    asm volatile("" ::: "memory");  // keeps loads here: hoisted, they would spill registers
    Packet right[kPackets];
#pragma GCC unroll 4
    for (int p = 0; p < kPackets; ++p) right[p] = Eigen::internal::ploadu<Packet>(b + p * kLanes);
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int p = 0; p < kPackets; ++p) sums[r][p] = add_product<Lane>(sums[r][p], right[p], x[r]);
  }
#endif
};

// g++ warns on x86 that a packet loses its alignment as a template argument. Registers are aligned anyway.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"

/// to = fromᵀ
template <class T>
void transpose(Matrix<const T> from, Matrix<T> to) {
  using namespace Eigen::internal;
  using Packet = typename packet_traits<T>::type;
  constexpr Index kLanes = packet_traits<T>::size;
  const Index tall = from.rows - from.rows % kLanes, wide = from.cols - from.cols % kLanes;
  for (Index i = 0; i < tall; i += kLanes) {
    for (Index j = 0; j < wide; j += kLanes) {
      PacketBlock<Packet, kLanes> block;
      for (Index l = 0; l < kLanes; ++l) block.packet[l] = ploadu<Packet>(from.row(i + l) + j);
      ptranspose(block);
      for (Index l = 0; l < kLanes; ++l) pstoreu(to.row(j + l) + i, block.packet[l]);
    }
    for (Index j = wide; j < from.cols; ++j)
      for (Index l = 0; l < kLanes; ++l) to(j, i + l) = from(i + l, j);
  }
  for (Index i = tall; i < from.rows; ++i)
    for (Index j = 0; j < from.cols; ++j) to(j, i) = from(i, j);
}

#pragma GCC diagnostic pop

/// A matrix in panels of kColumns columns, the last padded with zeros, so that products read it sequentially.
template <class T>
class Panels {
  static constexpr Index kDepth = 512;  // part of a panel that stays in the nearest cache for all rows

 public:
  static constexpr Index kColumns = Tile<T>::kColumns;
  /// The number of values in the panels.
  static constexpr Index size(Index depth, Index cols) { return (cols + kColumns - 1) / kColumns * kColumns * depth; }

  Panels(T* memory, Index depth, Index cols) : data_(memory), depth_(depth), cols_(cols) {}
  /// Uses device.results(), so it is valid until the next call of results().
  Panels(Cpu<T>& device, Index depth, Index cols) : Panels(device.results(size(depth, cols)), depth, cols) {}

  /// Copies b, or bᵀ. With a device, all threads copy; otherwise the calling one.
  void fill(Cpu<T>& device, Matrix<const T> b, bool transposed) {
    device.parallel_ranges(size(1, cols_) / kColumns, 1,
                           [&](Index first, Index last, int) { fill(first, last, b, transposed); });
  }
  void fill(Matrix<const T> b, bool transposed) { fill(0, size(1, cols_) / kColumns, b, transposed); }

  /// c = base + alpha a b on the calling thread; c may have more rows than a.
  void multiply(Matrix<const T> a, Matrix<T> c, T alpha, Matrix<const T> base) const {
    for (Index j = 0; j < cols_; j += kColumns)
      for (Index k = 0; k < depth_; k += kDepth) {
        const auto to = c.columns(j, std::min(kColumns, cols_ - j));
        Tile<T>::run(a.columns(k, std::min(kDepth, depth_ - k)), data_ + j * depth_ + k * kColumns, kColumns, to, alpha,
                     k == 0 ? base.columns(j, to.cols) : Matrix<const T>(to));
      }
  }
  /// c += a b
  void multiply(Matrix<const T> a, Matrix<T> c) const { multiply(a, c, 1, c); }

 private:
  void fill(Index first, Index last, Matrix<const T> b, bool transposed) {
    for (Index p = first; p < last; ++p) {
      const Index count = std::min(kColumns, cols_ - p * kColumns);
      const Matrix<T> panel(data_ + p * kColumns * depth_, depth_, kColumns);
      if (count < kColumns) std::fill_n(panel.data, kColumns * depth_, T(0));
      if (transposed)
        transpose(b.row_range(p * kColumns, count), panel);
      else if (count == kColumns)  // a constant size avoids calls
        for (Index k = 0; k < depth_; ++k) std::memcpy(panel.row(k), b.row(k) + p * kColumns, kColumns * sizeof(T));
      else
        for (Index k = 0; k < depth_; ++k) std::copy_n(b.row(k) + p * kColumns, count, panel.row(k));
    }
  }

  T* data_;
  Index depth_, cols_;
};

}  // namespace attn::cpu
