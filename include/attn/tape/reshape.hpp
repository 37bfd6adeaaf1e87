#pragma once
#include "attn/tape/tape.hpp"

namespace attn {

/// The same elements in row-major order with another shape. Copies slices; other activations are not copied.
template <class Device>
Variable<Device> reshape(Variable<Device> x, Index rows, Index cols) {
  require(rows * cols == x.rows() * x.cols(), "reshape: ", x.rows(), " x ", x.cols(), " cannot become ", rows, " x ", cols);
  Tape<Device>& tape = x.tape();
  const auto copy = [](Device& device, auto from, auto to) { dropout(device, {.x = from, .y = to, .dropout = {}}); };
  Variable<Device> y;
  if (x.value.stride == x.cols()) {
    y = tape.constant({x.value.data, rows, cols});
    if (x.slot != nullptr) y.slot = tape.new_slot(rows, cols);
  } else {
    y = tape.result(rows, cols, x);
    copy(tape.device, x.value, Sink<typename Device::Scalar>{{y.value.data, x.rows(), x.cols()}});
  }
  tape.on_backward(y, [x, copy](Tape<Device>& back, auto dy) {
    copy(back.device, Matrix<typename Device::Scalar>(dy.data, x.rows(), x.cols()), back.sink(x));
  });
  return y;
}

}  // namespace attn
