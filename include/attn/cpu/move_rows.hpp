#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/move_rows.hpp"

namespace attn {

template <class T>
void move_rows(Cpu<T>& device, const MoveRowsArgs<Cpu<T>>& args) {
  device.parallel_rows(args.count, args.from.cols, [&](Index i) {
    const auto from = cpu::row_array(args.from, args.from_row != nullptr ? args.from_row[i] : i);
    cpu::put(cpu::row_array(args.to.to, args.to_row != nullptr ? args.to_row[i] : i), from, args.to.add);
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
