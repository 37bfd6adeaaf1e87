#pragma once
#include "attn/core/matrix.hpp"
#include "attn/core/ragged.hpp"

// Projects each sentence along its length: E K and F V of the Linformer.
//
//   ragged_projection                   y_s = E[:, 0:n_s] x_s          for each sentence s of n_s rows; y_s has k rows
//   ragged_projection_input_gradient    dx_s = E[:, 0:n_s]ᵀ dy_s
//   ragged_projection_weight_gradient   dE[:, 0:n_s] += dy_s x_sᵀ
//
// With blocks = h > 1, E stacks h matrices vertically, and matrix i projects columns i * width / h to
// (i + 1) * width / h - 1.

namespace attn {

template <class Device>
struct RaggedProjectionArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> x;  // rows x width
  Ragged rows;
  Matrix<const Scalar> projection;  // (blocks * k) x maximum length
  int blocks = 1;
  Matrix<Scalar> y;  // (sentences * k) x width
};

template <class Device>
struct RaggedProjectionInputGradientArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> dy;  // (sentences * k) x width
  Ragged rows;
  Matrix<const Scalar> projection;  // (blocks * k) x maximum length
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
  Matrix<typename Device::Real> dprojection;  // (blocks * k) x maximum length, accumulates
};

}  // namespace attn
