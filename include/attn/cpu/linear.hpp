#pragma once
#include "attn/cpu/eigen.hpp"
#include "attn/cpu/gemm.hpp"
#include "attn/cpu/packed_linear.hpp"
#include "attn/ops/linear.hpp"

namespace attn {

namespace cpu {

/// work(top, bottom, left, right, thread) over tiles of a rows x cols result. Cuts the side that needs less copying: every
/// task that uses columns of the right side copies them into panels. Rows of the left side are only copied if transposed.
template <bool TransposeA = false, class T, class Work>
void tiles(Cpu<T>& device, Index rows, Index cols, const Work& work) {
  if (TransposeA ? rows >= cols : cols < 32 * device.threads())
    device.parallel_ranges(rows, 20, [&](Index first, Index last, int thread) { work(first, last, 0, cols, thread); });
  else
    device.parallel_ranges(cols, 32, [&](Index first, Index last, int thread) { work(0, rows, first, last, thread); });
}

/// sums += the sum of the rows of a matrix.
template <class T>
void add_rows(Cpu<T>& device, Matrix<const T> x, T* sums) {
  device.parallel_ranges(x.cols, 64, [&](Index first, Index last, int) {
    auto sum = array(sums + first, last - first);
    for (Index i = 0; i < x.rows; ++i) sum += array(x.row(i) + first, last - first);
  });
}

}  // namespace cpu

template <class T>
void linear(Cpu<T>& device, const LinearArgs<Cpu<T>>& args) {
  if (cpu::linear_packed(device, args)) return;
  cpu::tiles(device, args.y.rows, args.y.cols, [&](Index top, Index bottom, Index left, Index right, int thread) {
    const auto y = args.y.row_range(top, bottom - top).columns(left, right - left);
    if (!args.bias) cpu::clear(y);
    const Matrix<const T> base = args.bias ? Matrix<const T>(args.bias + left, y.rows, y.cols, 0) : Matrix<const T>(y);
    cpu::gemm_from<false, true, T>(base, device, thread, args.x.row_range(top, y.rows), args.weight.row_range(left, y.cols),
                                   y, T(1), args.y.rows);
    if (args.relu)
      for (Index i = 0; i < y.rows; ++i) cpu::row_array(y, i) = cpu::row_array(y, i).max(T(0));
  });
}

template <class T>
void linear_input_gradient(Cpu<T>& device, const LinearInputGradientArgs<Cpu<T>>& args) {
  cpu::tiles(device, args.dx.to.rows, args.dx.to.cols, [&](Index top, Index bottom, Index left, Index right, int thread) {
    const auto dx = args.dx.to.row_range(top, bottom - top).columns(left, right - left);
    if (!args.dx.add) cpu::clear(dx);
    cpu::gemm(device, thread, args.dy.row_range(top, dx.rows), args.weight.columns(left, dx.cols), dx, T(args.scale),
              args.dx.to.rows);
    if (args.gate.empty()) return;
    const auto gate = args.gate.row_range(top, dx.rows).columns(left, dx.cols);
    for (Index i = 0; i < dx.rows; ++i)
      cpu::row_array(dx, i) = (cpu::row_array(gate, i) > T(0)).select(cpu::row_array(dx, i), T(0));
  });
  if (!args.gate.empty() && args.sums) cpu::add_rows<T>(device, args.dx.to, args.sums);
}

template <class T>
void linear_weight_gradient(Cpu<T>& device, const LinearWeightGradientArgs<Cpu<T>>& args) {
  cpu::tiles<true>(device, args.dweight.rows, args.dweight.cols,
                   [&](Index top, Index bottom, Index left, Index right, int thread) {
                     const auto dweight = args.dweight.row_range(top, bottom - top).columns(left, right - left);
                     cpu::gemm<true, false>(device, thread, args.dy.columns(top, dweight.rows),
                                            args.x.columns(left, dweight.cols), dweight);
                   });
  if (args.dbias) cpu::add_rows<T>(device, args.dy, args.dbias);
}

}  // namespace attn
