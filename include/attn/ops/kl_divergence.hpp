#pragma once
#include "attn/core/matrix.hpp"

// The Kullback-Leibler divergence between soft targets p and softmax(logits), as in knowledge distillation.
//
//   kl_divergence            y[0] += scale * sum over rows and classes of p * (log(p) - log_softmax(logits)),   0 log 0 = 0
//   kl_divergence_gradient   dlogits = scale * upstream[0] * (softmax(logits) * sum(p) - p)
//
// torch.nn.functional.kl_div(log_softmax(logits), p, reduction="sum"). The targets are constants.

namespace attn {

template <class Device>
struct KlDivergenceArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> logits;  // rows x classes
  Matrix<const Scalar> target;  // rows x classes: p, probabilities
  double scale = 1;
  typename Device::Real* y;  // 1, accumulates
};

template <class Device>
struct KlDivergenceGradientArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> logits;  // rows x classes
  Matrix<const Scalar> target;  // rows x classes: p, probabilities
  double scale = 1;
  const typename Device::Real* upstream = nullptr;  // 1, on the device; nullptr: 1
  Sink<Scalar> dlogits;                             // rows x classes
};

}  // namespace attn
