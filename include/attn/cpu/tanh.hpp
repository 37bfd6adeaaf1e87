#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/tanh.hpp"

namespace attn {

template <class T>
void tanh_rows(Cpu<T>& device, const TanhArgs<Cpu<T>>& args) {
  device.parallel_ranges(args.x.rows, 8, [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i) cpu::row_array(args.y, i) = cpu::row_array(args.x, i).tanh();
  });
}

template <class T>
void tanh_rows_gradient(Cpu<T>& device, const TanhGradientArgs<Cpu<T>>& args) {
  device.parallel_ranges(args.y.rows, 64, [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i) {
      const auto dy = cpu::row_array(args.dy, i), y = cpu::row_array(args.y, i);
      cpu::put(cpu::row_array(args.dx.to, i), dy * (1 - y * y), args.dx.add);
    }
  });
}

}  // namespace attn
