#pragma once
#include "attn/core/parameter.hpp"
#include "attn/ops/linear.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// x Wᵀ + b
template <int Out, class Device, int In>
Variable<Device, Out> linear(Tape<Device>& tape, Variable<Device, In> x, Parameter<Device> weight, Parameter<Device> bias) {
  auto y = tape.template make<Out>(x.rows());
  linear(tape.device, {.x = x.value, .weight = weight.matrix(), .bias = bias.values(), .y = y.value});
  tape.on_backward(y, [x, weight, bias](Tape<Device>& back, auto dy) {
    linear_weight_gradient(back.device,
                           {.dy = dy, .x = x.value, .dweight = weight.gradient_matrix(), .dbias = bias.gradients()});
    linear_input_gradient(back.device, {.dy = dy, .weight = weight.matrix(), .dx = back.sink(x)});
  });
  return y;
}

/// x W
template <int Out, class Device, int In>
Variable<Device, Out> linear_transposed(Tape<Device>& tape, Variable<Device, In> x, Parameter<Device> weight) {
  using Scalar = typename Device::Scalar;
  auto y = tape.template make<Out>(x.rows());
  linear_input_gradient(tape.device, {.dy = x.value, .weight = weight.matrix(), .dx = {y.value}});
  tape.on_backward(y, [x, weight](Tape<Device>& back, auto dy) {
    linear_weight_gradient(back.device, {.dy = x.value, .x = dy, .dweight = weight.gradient_matrix()});
    const Sink<Scalar> sink = back.sink(x);
    const auto dx = sink.add ? back.template scratch<Scalar>(x.rows(), In) : sink.to;
    linear(back.device, {.x = dy, .weight = weight.matrix(), .y = dx});
    if (!sink.add) return;
    dropout(back.device, {.x = dx, .y = sink, .dropout = {}});
    back.release(dx);
  });
  return y;
}

/// dropout(relu(x W₁ᵀ + b₁)) W₂ᵀ + b₂: one function, so that the ReLU and its gradient ride on the matrix products.
template <class Device, int Width>
Variable<Device, Width> feed_forward(Tape<Device>& tape, Variable<Device, Width> x, Parameter<Device> up,
                                     Parameter<Device> up_bias, Parameter<Device> down, Parameter<Device> down_bias,
                                     float rate) {
  using Scalar = typename Device::Scalar;
  const Matrix<Scalar> h(tape.template array<Scalar>(x.rows() * up.rows), x.rows(), up.rows);
  auto y = tape.template make<Width>(x.rows());
  const Dropout drop = tape.dropout(rate);
  linear(tape.device, {.x = x.value, .weight = up.matrix(), .bias = up_bias.values(), .y = h, .relu = true});
  if (drop.active()) dropout(tape.device, {.x = h, .y = {h}, .dropout = drop});
  linear(tape.device, {.x = h, .weight = down.matrix(), .bias = down_bias.values(), .y = y.value});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    const auto dh = back.template scratch<Scalar>(h.rows, h.cols);
    linear_weight_gradient(back.device,
                           {.dy = dy, .x = h, .dweight = down.gradient_matrix(), .dbias = down_bias.gradients()});
    // h is 0 where either the ReLU or dropout stopped it: one gate for both.
    linear_input_gradient(
        back.device,
        {.dy = dy, .weight = down.matrix(), .dx = {dh}, .gate = h, .scale = drop.scale(), .sums = up_bias.gradients()});
    linear_weight_gradient(back.device, {.dy = dh, .x = x.value, .dweight = up.gradient_matrix()});
    linear_input_gradient(back.device, {.dy = dh, .weight = up.matrix(), .dx = back.sink(x)});
    back.release(dh);
  });
  return y;
}

}  // namespace attn
