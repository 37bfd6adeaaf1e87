#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/cpu/reduce_columns.hpp"
#include "attn/ops/reduce_rows.hpp"
#include "attn/ops/zero_outside.hpp"

namespace attn {

template <class T>
void reduce_rows(Cpu<T>& device, const ReduceRowsArgs<Cpu<T>>& args) {
  refuse_lists("reduce_rows", args.rows);
  device.parallel(args.rows.count, [&](Index s, int) {
    const Index begin = args.rows.begin[s], end = args.rows.end[s];
    auto y = cpu::row_array(args.y, s);
    if (begin == end) {
      y = T(0);
      return;
    }
    y = cpu::row_array(args.x, args.kind == RowReduction::last ? end - 1 : begin);
    if (args.kind == RowReduction::first || args.kind == RowReduction::last) return;
    for (Index i = begin + 1; i < end; ++i) {
      const auto x = cpu::row_array(args.x, i);
      if (args.kind == RowReduction::max)
        for (Index c = 0; c < args.x.cols; ++c) y[c] = cpu::larger(x[c], y[c]);
      else
        y += x;
    }
    if (args.kind == RowReduction::mean) y /= static_cast<T>(end - begin);
  });
}

template <class T>
void reduce_rows_gradient(Cpu<T>& device, const ReduceRowsGradientArgs<Cpu<T>>& args) {
  refuse_lists("reduce_rows_gradient", args.rows);
  zero_outside(device, args.rows, args.dx);
  device.parallel(args.rows.count, [&](Index s, int) {
    const Index begin = args.rows.begin[s], end = args.rows.end[s];
    const Matrix<T> dx = args.dx.to.row_range(begin, end - begin);
    if (begin == end) return;
    const auto dy = cpu::row_array(args.dy, s);
    switch (args.kind) {
      case RowReduction::sum:
        for (Index i = 0; i < dx.rows; ++i) cpu::put(cpu::row_array(dx, i), dy, args.dx.add);
        return;
      case RowReduction::mean:
        for (Index i = 0; i < dx.rows; ++i) cpu::put(cpu::row_array(dx, i), dy / static_cast<T>(dx.rows), args.dx.add);
        return;
      case RowReduction::max:
        if (!args.dx.add) cpu::clear(dx);
        for (Index c = 0; c < dx.cols; ++c) {
          Index i = 0;
          while (i < dx.rows && !cpu::is_largest(args.x(begin + i, c), args.y(s, c))) ++i;
          if (i < dx.rows) dx(i, c) += dy[c];
        }
        return;
      case RowReduction::first:
      case RowReduction::last:
        if (!args.dx.add) cpu::clear(dx);
        cpu::row_array(dx, args.kind == RowReduction::first ? 0 : dx.rows - 1) += dy;
        return;
    }
  });
}

}  // namespace attn
