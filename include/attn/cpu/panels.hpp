#pragma once
#include <cstring>

#include "attn/cpu/device.hpp"
#include "attn/cpu/tile.hpp"

namespace attn::cpu {

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
