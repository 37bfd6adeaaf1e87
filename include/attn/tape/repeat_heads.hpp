#pragma once
#include "attn/ops/move_rows.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// Repeats each head `times` times, for the keys or values of grouped-query attention.
template <class Device>
Variable<Device> repeat_heads(Variable<Device> x, Index heads, Index times) {
  if (times == 1) return x;
  require(heads > 0 && x.cols() % heads == 0, "repeat_heads: ", x.cols(), " columns are not a multiple of ", heads,
          " heads");
  Tape<Device>& tape = x.tape();
  const Index width = x.cols() / heads;
  auto y = tape.result(x.rows(), times * x.cols(), x);
  repeat_heads(tape.device, {.x = x.value, .width = width, .times = times, .y = y.value});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    repeat_heads_gradient(back.device, {.dy = dy, .width = width, .times = times, .dx = back.sink(x)});
  });
  return y;
}

}  // namespace attn
