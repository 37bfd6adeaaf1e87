#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/move_rows.hpp"

namespace attn {

template <class T>
void copy_rows(Cpu<T>& device, const CopyRowsArgs<Cpu<T>>& args) {
  device.parallel_rows(args.count, args.rows.cols, [&](Index i) {
    std::copy_n(args.rows.row(args.from[i]), args.rows.cols, args.rows.row(args.to[i]));
  });
}

template <class T>
void gather_rows(Cpu<T>& device, const GatherRowsArgs<Cpu<T>>& args) {
  device.parallel_rows(args.to.rows, args.to.cols,
                       [&](Index i) { std::copy_n(args.from.row(args.row[i]), args.to.cols, args.to.row(i)); });
}

template <class T>
void gather_rows_gradient(Cpu<T>&, const GatherRowsGradientArgs<Cpu<T>>& args) {
  if (!args.dfrom.add) cpu::clear(args.dfrom.to);
  for (Index i = 0; i < args.dto.rows; ++i) cpu::row_array(args.dfrom.to, args.row[i]) += cpu::row_array(args.dto, i);
}

template <class T>
void scatter_rows(Cpu<T>& device, const ScatterRowsArgs<Cpu<T>>& args) {
  device.parallel_rows(args.from.rows, args.from.cols,
                       [&](Index i) { std::copy_n(args.from.row(i), args.from.cols, args.to.row(args.row[i])); });
}

template <class T>
void repeat_rows(Cpu<T>& device, const RepeatRowsArgs<Cpu<T>>& args) {
  refuse_lists("repeat_rows", args.rows);
  zero_outside(device, args.rows, Sink<T>{args.y});
  device.parallel(args.rows.count, [&](Index s, int) {
    for (Index i = args.rows.begin[s]; i < args.rows.end[s]; ++i) std::copy_n(args.x.row(s), args.x.cols, args.y.row(i));
  });
}

template <class T>
void repeat_rows_gradient(Cpu<T>& device, const RepeatRowsGradientArgs<Cpu<T>>& args) {
  refuse_lists("repeat_rows_gradient", args.rows);
  device.parallel(args.rows.count, [&](Index s, int) {
    auto dx = cpu::row_array(args.dx.to, s);
    if (!args.dx.add) dx = T(0);
    for (Index i = args.rows.begin[s]; i < args.rows.end[s]; ++i) dx += cpu::row_array(args.dy, i);
  });
}

template <class T>
void repeat_heads(Cpu<T>& device, const RepeatHeadsArgs<Cpu<T>>& args) {
  device.parallel_rows(args.x.rows, args.y.cols, [&](Index i) {
    for (Index h = 0; h * args.width < args.y.cols; ++h)
      std::copy_n(args.x.row(i) + h / args.times * args.width, args.width, args.y.row(i) + h * args.width);
  });
}

template <class T>
void repeat_heads_gradient(Cpu<T>& device, const RepeatHeadsGradientArgs<Cpu<T>>& args) {
  const Matrix<T> dx = args.dx.to;
  device.parallel_rows(dx.rows, args.dy.cols, [&](Index i) {
    for (Index h = 0; h * args.width < args.dy.cols; ++h) {
      auto to = cpu::array(dx.row(i) + h / args.times * args.width, args.width);
      cpu::put(to, cpu::array(args.dy.row(i) + h * args.width, args.width), args.dx.add || h % args.times != 0);
    }
  });
}

}  // namespace attn
