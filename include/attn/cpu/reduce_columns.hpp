#pragma once

#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/reduce_columns.hpp"

namespace attn {

namespace cpu {

/// The maximum of two numbers; NaN if one is NaN.
template <class T>
T larger(T a, T b) {
  return a > b || a != a ? a : b;
}

/// Whether x is the maximum found by `larger`.
template <class T>
bool is_largest(T x, T most) {
  return x == most || (x != x && most != most);
}

}  // namespace cpu

template <class T>
void reduce_columns(Cpu<T>& device, const ReduceColumnsArgs<Cpu<T>>& args) {
  const Index cols = args.x.cols;
  check_reduced_columns(args.kind, cols);
  device.parallel_ranges(args.x.rows, cpu::worthwhile_rows(cols), [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i) {
      const auto x = cpu::row_array(args.x, i);
      T& y = args.y(i, 0);
      if (args.kind == Reduction::max) {
        y = x[0];
        for (Index j = 1; j < cols; ++j) y = cpu::larger(x[j], y);
      } else {
        y = args.kind == Reduction::sum ? x.sum() : x.sum() / static_cast<T>(cols);
      }
    }
  });
}

template <class T>
void reduce_columns_gradient(Cpu<T>& device, const ReduceColumnsGradientArgs<Cpu<T>>& args) {
  const Index cols = args.dx.to.cols;
  check_reduced_columns(args.kind, cols);
  device.parallel_ranges(args.dx.to.rows, cpu::worthwhile_rows(cols), [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i) {
      auto dx = cpu::row_array(args.dx.to, i);
      const T dy = args.dy(i, 0);
      if (args.kind == Reduction::max) {
        if (!args.dx.add) dx = T(0);
        Index j = 0;
        while (j < cols && !cpu::is_largest(args.x(i, j), args.y(i, 0))) ++j;
        if (j < cols) dx[j] += dy;
      } else {
        const T each = args.kind == Reduction::sum ? dy : dy / static_cast<T>(cols);
        cpu::put(dx, cpu::RowArray<T>::PlainObject::Constant(cols, each), args.dx.add);
      }
    }
  });
}

}  // namespace attn
