#pragma once
#include "attn/core/matrix.hpp"

// tanh_rows            y = tanh(x), number by number; x and y may be the same matrix
// tanh_rows_gradient   dx = dy * (1 - y²)

namespace attn {

template <class Device>
struct TanhArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> x;  // rows x width
  Matrix<Scalar> y;        // rows x width
};

template <class Device>
struct TanhGradientArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> dy, y;  // rows x width
  Sink<Scalar> dx;             // rows x width
};

}  // namespace attn
