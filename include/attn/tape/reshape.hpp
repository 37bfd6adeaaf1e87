#pragma once
#include "attn/ops/move_rows.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// The same elements in row-major order with another shape. Copies slices; other activations are not copied.
template <class Device>
Variable<Device> reshape(Variable<Device> x, Index rows, Index cols) {
  require(rows * cols == x.rows() * x.cols(), "reshape: ", x.rows(), " x ", x.cols(), " cannot become ", rows, " x ", cols);
  Tape<Device>& tape = x.tape();
  Variable<Device> y;
  if (x.value.stride == x.cols()) {
    y = tape.constant({x.value.data, rows, cols});
    if (x.slot != nullptr) y.slot = tape.new_slot(rows, cols);
  } else {
    y = tape.result(rows, cols, x);
    move_rows(tape.device, {.from = x.value, .to = {{y.value.data, x.rows(), x.cols()}}, .count = x.rows()});
  }
  tape.on_backward(y, [x](Tape<Device>& back, auto dy) {
    move_rows(back.device, {.from = {dy.data, x.rows(), x.cols()}, .to = back.sink(x), .count = x.rows()});
  });
  return y;
}

}  // namespace attn
