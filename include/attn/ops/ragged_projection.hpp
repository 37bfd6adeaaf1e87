#pragma once
#include "attn/core/matrix.hpp"
#include "attn/core/ragged.hpp"
#include "attn/ops/no_backend.hpp"

// Projects each sentence along its length: the Linformer's E K and F V.
//
//   ragged_projection                   y_s = E[:, 0:n_s] x_s          for each sentence s of n_s rows; y_s has k rows
//   ragged_projection_input_gradient    dx_s = E[:, 0:n_s]ᵀ dy_s
//   ragged_projection_weight_gradient   dE[:, 0:n_s] += dy_s x_sᵀ
//
// With blocks = h > 1, E is h matrices one below another, and matrix i projects columns i * width / h to (i + 1) * width /
// h.

namespace attn {

template <class Device>
struct RaggedProjectionArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> x;  // rows x width
  Ragged rows;
  Matrix<const Scalar> projection;  // (blocks * k) x longest allowed
  int blocks = 1;
  Matrix<Scalar> y;  // (sentences * k) x width
};

template <class Device>
struct RaggedProjectionInputGradientArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> dy;  // (sentences * k) x width
  Ragged rows;
  Matrix<const Scalar> projection;  // (blocks * k) x longest allowed
  int blocks = 1;
  Sink<Scalar> dx;  // rows x width
};

template <class Device>
struct RaggedProjectionWeightGradientArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> dy;  // (sentences * k) x width
  Matrix<const Scalar> x;   // rows x width
  Ragged rows;
  int blocks = 1;
  Matrix<typename Device::Real> dprojection;  // (blocks * k) x longest allowed, accumulates
};

template <class Device>
void ragged_projection(Device&, const RaggedProjectionArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void ragged_projection_input_gradient(Device&, const RaggedProjectionInputGradientArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void ragged_projection_weight_gradient(Device&, const RaggedProjectionWeightGradientArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
