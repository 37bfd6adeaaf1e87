#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/repeat_heads.hpp"

namespace attn {

template <class T>
void repeat_heads(Cpu<T>& device, const RepeatHeadsArgs<Cpu<T>>& args) {
  device.parallel_ranges(args.x.rows, cpu::worthwhile_rows(args.y.cols), [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i)
      for (Index h = 0; h * args.width < args.y.cols; ++h)
        cpu::array(args.y.row(i) + h * args.width, args.width) =
            cpu::array(args.x.row(i) + h / args.times * args.width, args.width);
  });
}

template <class T>
void repeat_heads_gradient(Cpu<T>& device, const RepeatHeadsGradientArgs<Cpu<T>>& args) {
  const Matrix<T> dx = args.dx.to;
  device.parallel_ranges(dx.rows, cpu::worthwhile_rows(args.dy.cols), [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i)
      for (Index h = 0; h * args.width < args.dy.cols; ++h) {
        auto to = cpu::array(dx.row(i) + h / args.times * args.width, args.width);
        cpu::put(to, cpu::array(args.dy.row(i) + h * args.width, args.width), args.dx.add || h % args.times != 0);
      }
  });
}

}  // namespace attn
