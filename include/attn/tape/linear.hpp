#pragma once
#include "attn/ops/linear.hpp"
#include "attn/ops/move_rows.hpp"
#include "attn/tape/gradient_memory.hpp"

namespace attn {

/// For y = x Wᵀ + b, adds the gradients of W and b if they learn.
template <class Device>
void add_linear_gradient(Tape<Device>& back, Matrix<const typename Device::Scalar> dy,
                         Matrix<const typename Device::Scalar> x, const Parameter<Device>& weight,
                         const Parameter<Device>& bias = {}) {
  if (!weight.learns() && !bias.learns()) return;
  const GradientOrScratch<Device> dweight(back, weight);
  linear_weight_gradient(back.device, {.dy = dy, .x = x, .dweight = dweight, .dbias = gradient_or_null(bias)});
}

/// x Wᵀ + b
template <class Device>
Variable<Device> linear(Variable<Device> x, Parameter<Device> weight, Parameter<Device> bias = {}) {
  require(x.cols() == weight.cols, "linear: an input of ", x.cols(), " columns for a weight of ", weight.rows, " x ",
          weight.cols, ". Make both widths the same.");
  Tape<Device>& tape = x.tape();
  auto y = tape.result(x.rows(), weight.rows, x, weight, bias);
  linear(tape.device, {.x = x.value, .weight = weight.matrix(), .bias = bias.values(), .y = y.value});
  tape.on_backward(y, [x, weight, bias](Tape<Device>& back, auto dy) {
    add_linear_gradient(back, dy, x.value, weight, bias);
    if (x.slot != nullptr) linear_input_gradient(back.device, {.dy = dy, .weight = weight.matrix(), .dx = back.sink(x)});
  });
  return y;
}

/// x W
template <class Device>
Variable<Device> linear_transposed(Variable<Device> x, Parameter<Device> weight) {
  using Scalar = typename Device::Scalar;
  require(x.cols() == weight.rows, "linear_transposed: an input of ", x.cols(), " columns for a weight of ", weight.rows,
          " x ", weight.cols);
  Tape<Device>& tape = x.tape();
  auto y = tape.result(x.rows(), weight.cols, x, weight);
  linear_input_gradient(tape.device, {.dy = x.value, .weight = weight.matrix(), .dx = {y.value}});
  tape.on_backward(y, [x, weight](Tape<Device>& back, auto dy) {
    add_linear_gradient(back, x.value, dy, weight);
    if (x.slot == nullptr) return;
    const Sink<Scalar> sink = back.sink(x);
    if (!sink.add) return linear(back.device, {.x = dy, .weight = weight.matrix(), .y = sink.to});
    const Scratch<Device, Scalar> dx(back, x.rows(), x.cols());
    linear(back.device, {.x = dy, .weight = weight.matrix(), .y = dx.matrix});
    move_rows(back.device, {.from = dx.matrix, .to = sink, .count = dy.rows});
  });
  return y;
}

/// dropout(relu(x W₁ᵀ + b₁)) W₂ᵀ + b₂ as one function, which fuses the ReLU and its gradient with the matrix products.
template <class Device>
Variable<Device> feed_forward(Variable<Device> x, Parameter<Device> up, Parameter<Device> up_bias, Parameter<Device> down,
                              Parameter<Device> down_bias, float rate) {
  using Scalar = typename Device::Scalar;
  require(x.cols() == up.cols && up.rows == down.cols, "feed_forward: an input of ", x.cols(), " columns for weights of ",
          up.rows, " x ", up.cols, " and ", down.rows, " x ", down.cols);
  Tape<Device>& tape = x.tape();
  const Matrix<Scalar> h = tape.matrix(x.rows(), up.rows);
  auto y = tape.result(x.rows(), down.rows, x, up, up_bias, down, down_bias);
  const Dropout drop = tape.dropout(rate);
  linear(tape.device, {.x = x.value, .weight = up.matrix(), .bias = up_bias.values(), .y = h, .relu = true});
  if (drop.active()) dropout(tape.device, {.x = h, .y = {h}, .dropout = drop});
  linear(tape.device, {.x = h, .weight = down.matrix(), .bias = down_bias.values(), .y = y.value});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    add_linear_gradient(back, dy, Matrix<const Scalar>(h), down, down_bias);
    if (!up.learns() && !up_bias.learns() && x.slot == nullptr) return;
    const Scratch<Device, Scalar> scratch(back, h.rows, h.cols);
    const auto dh = scratch.matrix;
    // h is 0 wherever the ReLU or dropout zeroed it: one gate serves both.
    linear_input_gradient(back.device, {.dy = dy,
                                        .weight = down.matrix(),
                                        .dx = {dh},
                                        .gate = h,
                                        .scale = drop.scale(),
                                        .sums = gradient_or_null(up_bias)});
    add_linear_gradient(back, dh, x.value, up);
    if (x.slot != nullptr) linear_input_gradient(back.device, {.dy = dh, .weight = up.matrix(), .dx = back.sink(x)});
  });
  return y;
}

}  // namespace attn
