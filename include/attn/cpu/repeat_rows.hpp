#pragma once
#include <algorithm>

#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/repeat_rows.hpp"
#include "attn/ops/zero_outside.hpp"

namespace attn {

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

}  // namespace attn
