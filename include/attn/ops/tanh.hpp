#pragma once
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// tanh_rows            y = tanh(x), element by element; x and y may be the same matrix
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

template <class Device>
void tanh_rows(Device&, const TanhArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void tanh_rows_gradient(Device&, const TanhGradientArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
