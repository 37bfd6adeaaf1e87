#pragma once
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// Repeats heads, side by side, for grouped-query attention (Ainslie et al. 2023): several heads of queries share one of keys and values.
//
//   repeat_heads            y[i, h d + j] = x[i, (h / times) d + j]
//   repeat_heads_gradient   dx[i, g d + j] = sum over r < times of dy[i, (g times + r) d + j]

namespace attn {

template <class Device>
struct RepeatHeadsArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> x;  // rows x heads * d
  Index width;             // d
  Index times;
  Matrix<Scalar> y;  // rows x times * heads * d
};

template <class Device>
struct RepeatHeadsGradientArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> dy;  // rows x times * heads * d
  Index width;              // d
  Index times;
  Sink<Scalar> dx;  // rows x heads * d
};

template <class Device>
void repeat_heads(Device&, const RepeatHeadsArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void repeat_heads_gradient(Device&, const RepeatHeadsGradientArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
