#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/rotary.hpp"

namespace attn {

template <class T>
void rotary(Cpu<T>& device, const RotaryArgs<Cpu<T>>& args) {
  const Index width = args.table.cols, half = width / 2;
  device.parallel(args.rows.count, [&](Index s, int) {
    const Index first = args.first_positions ? args.first_positions[s] : args.first_position;
    for (Index i = args.rows.begin[s]; i < args.rows.end[s]; ++i) {
      const T* angle = args.table.row(first + i - args.rows.begin[s]);
      for (Index column = 0; column < args.x.cols; column += width) {
        const T* x = args.x.row(i) + column;
        T* y = args.y.to.row(i) + column;
        for (Index j = 0; j < half; ++j) {
          const T a = x[j], b = x[j + half], sine = args.inverse ? -angle[j] : angle[j], cosine = angle[j + half];
          args.y.put(y[j], a * cosine - b * sine);
          args.y.put(y[j + half], b * cosine + a * sine);
        }
      }
    }
  });
}

}  // namespace attn
