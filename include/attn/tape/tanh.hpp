#pragma once
#include "attn/ops/tanh.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// tanh(x), element by element
template <class Device, int Width>
Variable<Device, Width> tanh(Tape<Device>& tape, Variable<Device, Width> x) {
  auto y = tape.template make<Width>(x.rows());
  tanh_rows(tape.device, {.x = x.value, .y = y.value});
  tape.on_backward(y, [x, y](Tape<Device>& back, auto dy) {
    tanh_rows_gradient(back.device, {.dy = dy, .y = y.value, .dx = back.sink(x)});
  });
  return y;
}

}  // namespace attn
