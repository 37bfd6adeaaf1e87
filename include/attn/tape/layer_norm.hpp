#pragma once
#include "attn/ops/layer_norm.hpp"
#include "attn/tape/arithmetic.hpp"
#include "attn/tape/linear.hpp"

namespace attn {

/// layer_norm(x + dropout(branch)): the post-norm residual connection, in one pass. Without a branch, layer_norm(x).
template <class Device>
Variable<Device> residual_layer_norm(Variable<Device> x, Variable<Device> branch, Parameter<Device> gain,
                                     Parameter<Device> bias, Dropout drop, bool center = true, float epsilon = 1e-5f) {
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;
  const bool fused = !branch.value.empty();
  require(!fused || (x.rows() == branch.rows() && x.cols() == branch.cols()), "residual: activations of ", x.rows(), " x ",
          x.cols(), " and ", branch.rows(), " x ", branch.cols(), " cannot be added");
  require(x.cols() == gain.rows, "layer_norm: an input of ", x.cols(), " columns for a norm of width ", gain.rows);
  Tape<Device>& tape = fused ? branch.tape() : x.tape();
  Matrix<Scalar> sum;  // for the gradient only
  if (fused && tape.recording()) sum = tape.matrix(x.rows(), x.cols());
  auto y = tape.result(x.rows(), x.cols(), x, branch, gain, bias);
  auto* mean = tape.template array<Real>(x.rows());
  auto* inverse = tape.template array<Real>(x.rows());
  layer_norm(tape.device, {.x = x.value,
                           .branch = branch.value,
                           .dropout = drop,
                           .gain = gain.values(),
                           .bias = bias.values(),
                           .z = sum,
                           .y = y.value,
                           .mean = mean,
                           .inverse_deviation = inverse,
                           .epsilon = epsilon,
                           .center = center});
  const Matrix<Scalar> z = fused ? sum : Matrix<Scalar>(x.value);
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    const SinkOrScratch<Device> dx(back, x), dbranch(back, branch);
    const GradientOrScratch<Device> dgain(back, gain), dbias(back, bias);
    layer_norm_gradient(back.device, {.z = z,
                                      .dy = dy,
                                      .gain = gain.values(),
                                      .mean = mean,
                                      .inverse_deviation = inverse,
                                      .dropout = drop,
                                      .dx = dx,
                                      .dbranch = dbranch,
                                      .dgain = dgain,
                                      .dbias = dbias,
                                      .center = center});
  });
  return y;
}

/// (x - mean) / deviation * gain + bias for each row
template <class Device>
Variable<Device> layer_norm(Variable<Device> x, Parameter<Device> gain, Parameter<Device> bias, bool center = true,
                            float epsilon = 1e-5f) {
  return residual_layer_norm(x, {}, gain, bias, {}, center, epsilon);
}

/// x / root mean square * gain for each row
template <class Device>
Variable<Device> rms_norm(Variable<Device> x, Parameter<Device> gain, float epsilon = 1e-5f) {
  return layer_norm(x, gain, Parameter<Device>{}, false, epsilon);
}

/// x + dropout(branch). Norms fuse this sum into their own pass.
template <class Device, int Width, int Branch>
using ResidualSum = Expression<Width, functions::Add, Variable<Device>,
                               Expression<Branch, functions::Multiply, Variable<Device>, DropoutMask>>;

}  // namespace attn
