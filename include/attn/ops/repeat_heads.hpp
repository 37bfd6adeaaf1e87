#pragma once
#include "attn/core/matrix.hpp"

// Repeats each head for grouped-query attention (Ainslie et al. 2023), where several query heads share a key-value head.
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

}  // namespace attn
