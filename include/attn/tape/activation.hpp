#pragma once
#include "attn/ops/activation.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// f(x), number by number: ReLU, GELU, Swish
template <class Device, int Width>
Variable<Device, Width> activation(Tape<Device>& tape, Variable<Device, Width> x, ActivationKind kind) {
  auto y = tape.template make<Width>(x.rows());
  activation(tape.device, {.kind = kind, .x = x.value, .y = y.value});
  tape.on_backward(y, [x, kind](Tape<Device>& back, auto dy) {
    activation_gradient(back.device, {.kind = kind, .dy = dy, .x = x.value, .dx = back.sink(x)});
  });
  return y;
}

}  // namespace attn
