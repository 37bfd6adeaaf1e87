#pragma once
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// The matrix products of every layer, with what is fused after them.
//
//   linear                   y  = x Wᵀ + b                      optionally relu(.)
//   linear_input_gradient    dx = dy W                          optionally scaled, and 0 where a ReLU had been 0;
//                                                               then also the sum of its rows, for the bias below the ReLU
//   linear_weight_gradient   dW += dyᵀ x,  db += sum of rows of dy

namespace attn {

template <class Device>
struct LinearArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> x;        // rows x in
  Matrix<const Scalar> weight;   // out x in
  const Scalar* bias = nullptr;  // out, or none
  Matrix<Scalar> y;              // rows x out
  bool relu = false;
};

template <class Device>
struct LinearInputGradientArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> dy;         // rows x out
  Matrix<const Scalar> weight;     // out x in
  Sink<Scalar> dx;                 // rows x in
  Matrix<const Scalar> gate = {};  // rows x in: the gradient passes where gate > 0; not together with dx.add
  double scale = 1;
  typename Device::Real* sums = nullptr;  // in, accumulates: the sum of rows of dx, where there is a gate; or none
};

template <class Device>
struct LinearWeightGradientArgs {
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;
  Matrix<const Scalar> dy;  // rows x out
  Matrix<const Scalar> x;   // rows x in
  Matrix<Real> dweight;     // out x in, accumulates
  Real* dbias = nullptr;    // out, accumulates, or none
};

template <class Device>
void linear(Device&, const LinearArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void linear_input_gradient(Device&, const LinearInputGradientArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void linear_weight_gradient(Device&, const LinearWeightGradientArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
