#pragma once
#include <Eigen/Core>
#include <algorithm>

#include "attn/core/matrix.hpp"
#include "attn/cpu/device.hpp"

// Products of a few rows, again and again, with one matrix: the steps of a recurrent layer. The matrix is copied once into
// panels of some columns, so that every step reads it in the order in which it lies. Each number is summed in the order of
// the depth, whatever stands beside it: its bits depend neither on the number of rows nor on how they are cut.

namespace attn::cpu {

/// b (depth x cols) in panels of kColumns columns, the last filled up with zeros.
template <class T>
class Panels {
  using Packet = typename Eigen::internal::packet_traits<T>::type;
  static constexpr Index kLanes = Eigen::internal::packet_traits<T>::size;
  static constexpr int kPackets = EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS >= 32 ? 4 : 2;  // of columns in a tile
  static constexpr int kRows = 5;  // of a tile: its sums fill the registers
  static constexpr Index kColumns = kPackets * kLanes;
  static constexpr Index kDepth = 512;  // of a panel that stays in the nearest cache while rows go by

 public:
  /// Numbers that such panels take.
  static constexpr Index size(Index depth, Index cols) { return (cols + kColumns - 1) / kColumns * kColumns * depth; }

  Panels(T* memory, Index depth, Index cols) : data_(memory), depth_(depth), cols_(cols) {}
  /// Lies in the device's memory for results of parallel loops, until its next use.
  Panels(Cpu<T>& device, Index depth, Index cols) : Panels(device.results(size(depth, cols)), depth, cols) {}

  /// Copies b, or bᵀ.
  void fill(Cpu<T>& device, Matrix<const T> b, bool transpose) {
    device.parallel_ranges((cols_ + kColumns - 1) / kColumns, 1, [&](Index first, Index last, int) {
      for (Index p = first; p < last; ++p) {
        T* panel = data_ + p * kColumns * depth_;
        const Index count = std::min(kColumns, cols_ - p * kColumns);
        if (count < kColumns) std::fill_n(panel, kColumns * depth_, T(0));
        if (transpose)
          copy_transposed(b.row_range(p * kColumns, count), panel);
        else
          for (Index k = 0; k < depth_; ++k) std::copy_n(b.row(k) + p * kColumns, count, panel + k * kColumns);
      }
    });
  }

  /// c += a b on the calling thread; c may have more rows than a.
  void multiply(Matrix<const T> a, Matrix<T> c) const {
    for (Index j = 0; j < cols_; j += kColumns)
      for (Index k = 0; k < depth_; k += kDepth) {
        const T* panel = data_ + j * depth_ + k * kColumns;
        const Index cut = cols_ - j < kColumns ? cols_ - j : 0;
        for (Index i = 0, tiles = (a.rows + kRows - 1) / kRows; tiles > 0; --tiles) {
          const Index rows =
              (a.rows - i + tiles - 1) / tiles;  // of like height: a low tile is hardly faster than a high one
          const auto left = a.row_range(i, rows).columns(k, std::min(kDepth, depth_ - k));
          const auto to = c.row_range(i, rows).columns(j, std::min(kColumns, cols_ - j));
          switch (rows) {
            case 1:
              tile<1>(left, panel, to, cut);
              break;
            case 2:
              tile<2>(left, panel, to, cut);
              break;
            case 3:
              tile<3>(left, panel, to, cut);
              break;
            case 4:
              tile<4>(left, panel, to, cut);
              break;
            case 5:
              tile<5>(left, panel, to, cut);
              break;
            default:
              tile<6>(left, panel, to, cut);
              break;
          }
          i += rows;
        }
      }
  }

 private:
  void copy_transposed(Matrix<const T> b, T* panel) const {
    using namespace Eigen::internal;
    Index j = 0;
    for (; j + kLanes <= b.rows; j += kLanes) {
      Index k = 0;
      for (; k + kLanes <= depth_; k += kLanes) {
        PacketBlock<Packet, kLanes> block;
        for (Index l = 0; l < kLanes; ++l) block.packet[l] = ploadu<Packet>(b.row(j + l) + k);
        ptranspose(block);
        for (Index l = 0; l < kLanes; ++l) pstoreu(panel + (k + l) * kColumns + j, block.packet[l]);
      }
      for (; k < depth_; ++k)
        for (Index l = 0; l < kLanes; ++l) panel[k * kColumns + j + l] = b(j + l, k);
    }
    for (; j < b.rows; ++j)
      for (Index k = 0; k < depth_; ++k) panel[k * kColumns + j] = b(j, k);
  }

  /// c += a panel, for R rows; the sums stay in registers. With a cut, only so many of the panel's columns exist in c.
  template <int R>
  static void tile(const Matrix<const T>& a, const T* panel, const Matrix<T>& c, Index cut) {
    using namespace Eigen::internal;
    T edge[R * kColumns];
    T* to = cut == 0 ? c.data : edge;
    const Index stride = cut == 0 ? c.stride : kColumns;
    if (cut != 0) {
      std::fill_n(edge, R * kColumns, T(0));
      for (int r = 0; r < R; ++r) std::copy_n(c.row(r), cut, edge + r * kColumns);
    }
    const T* left[R];
    Packet sums[R][kPackets];
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      left[r] = a.row(r);
#pragma GCC unroll 4
      for (int p = 0; p < kPackets; ++p) sums[r][p] = ploadu<Packet>(to + r * stride + p * kLanes);
    }
    for (Index k = 0; k < a.cols; ++k, panel += kColumns) {
      Packet right[kPackets];
#pragma GCC unroll 4
      for (int p = 0; p < kPackets; ++p) right[p] = ploadu<Packet>(panel + p * kLanes);
#pragma GCC unroll 6
      for (int r = 0; r < R; ++r) {
        const Packet factor = pset1<Packet>(left[r][k]);
#pragma GCC unroll 4
        for (int p = 0; p < kPackets; ++p) sums[r][p] = pmadd(factor, right[p], sums[r][p]);
      }
    }
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int p = 0; p < kPackets; ++p) pstoreu(to + r * stride + p * kLanes, sums[r][p]);
    for (int r = 0; r < R && cut != 0; ++r) std::copy_n(edge + r * kColumns, cut, c.row(r));
  }

  T* data_;
  Index depth_, cols_;
};

}  // namespace attn::cpu
