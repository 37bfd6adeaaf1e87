#pragma once
#include "attn/core/parameter.hpp"
#include "attn/ops/layer_norm.hpp"
#include "attn/ops/residual.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// (x - mean) / deviation * gain + bias, of each row
template <class Device, int Width>
Variable<Device, Width> layer_norm(Tape<Device>& tape, Variable<Device, Width> x, Parameter<Device> gain,
                                   Parameter<Device> bias, bool center = true) {
  using Real = typename Device::Real;
  auto y = tape.template make<Width>(x.rows());
  auto* mean = tape.template array<Real>(x.rows());
  auto* inverse = tape.template array<Real>(x.rows());
  layer_norm(tape.device, {.x = x.value,
                           .gain = gain.values(),
                           .bias = bias.values(),
                           .y = y.value,
                           .mean = mean,
                           .inverse_deviation = inverse,
                           .center = center});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    layer_norm_gradient(back.device, {.z = x.value,
                                      .dy = dy,
                                      .gain = gain.values(),
                                      .mean = mean,
                                      .inverse_deviation = inverse,
                                      .dx = back.sink(x),
                                      .dgain = gain.gradients(),
                                      .dbias = bias.gradients(),
                                      .center = center});
  });
  return y;
}

/// layer_norm(x + dropout(branch)): the post-norm residual connection, in one pass
template <class Device, int Width>
Variable<Device, Width> residual_layer_norm(Tape<Device>& tape, Variable<Device, Width> x, Variable<Device, Width> branch,
                                            Parameter<Device> gain, Parameter<Device> bias, float rate,
                                            bool center = true) {
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;
  Matrix<Scalar> z;  // for the gradient only
  if (tape.recording()) z = {tape.template array<Scalar>(x.rows() * Width), x.rows(), Width};
  auto y = tape.template make<Width>(x.rows());
  auto* mean = tape.template array<Real>(x.rows());
  auto* inverse = tape.template array<Real>(x.rows());
  const Dropout drop = tape.dropout(rate);
  layer_norm(tape.device, {.x = x.value,
                           .branch = branch.value,
                           .dropout = drop,
                           .gain = gain.values(),
                           .bias = bias.values(),
                           .z = z,
                           .y = y.value,
                           .mean = mean,
                           .inverse_deviation = inverse,
                           .center = center});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    layer_norm_gradient(back.device, {.z = z,
                                      .dy = dy,
                                      .gain = gain.values(),
                                      .mean = mean,
                                      .inverse_deviation = inverse,
                                      .dropout = drop,
                                      .dx = back.sink(x),
                                      .dbranch = back.sink(branch),
                                      .dgain = gain.gradients(),
                                      .dbias = bias.gradients(),
                                      .center = center});
  });
  return y;
}

/// x / root mean square * gain, of each row
template <class Device, int Width>
Variable<Device, Width> rms_norm(Tape<Device>& tape, Variable<Device, Width> x, Parameter<Device> gain) {
  return layer_norm(tape, x, gain, Parameter<Device>{}, false);
}

/// rms_norm(x + dropout(branch)), in one pass
template <class Device, int Width>
Variable<Device, Width> residual_rms_norm(Tape<Device>& tape, Variable<Device, Width> x, Variable<Device, Width> branch,
                                          Parameter<Device> gain, float rate) {
  return residual_layer_norm(tape, x, branch, gain, Parameter<Device>{}, rate, false);
}

/// x + dropout(branch)
template <class Device, int Width>
Variable<Device, Width> residual(Tape<Device>& tape, Variable<Device, Width> x, Variable<Device, Width> branch,
                                 float rate) {
  auto z = tape.template make<Width>(x.rows());
  const Dropout drop = tape.dropout(rate);
  residual(tape.device, {.x = x.value, .branch = branch.value, .dropout = drop, .z = z.value});
  tape.on_backward(z, [=](Tape<Device>& back, auto dz) {
    dropout(back.device, {.x = dz, .y = back.sink(x), .dropout = {}});
    dropout(back.device, {.x = dz, .y = back.sink(branch), .dropout = drop});
  });
  return z;
}

}  // namespace attn
