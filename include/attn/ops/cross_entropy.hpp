#pragma once
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// Softmax, cross-entropy with smoothed labels, and the gradient, in place over the logits.
//
//   cross_entropy   nll  += sum over rows of -log p[label]
//                   loss += sum over rows of -sum over classes of q[class] log p[class],   p = softmax(logits)
//                   logits become scale * (p - q), the gradient of scale * loss, when asked for
//
//   cross_entropy_gradient   dlogits = scale * upstream[0] * (p - q), the gradient of scale * loss, from logits that stay
//                            as they are
//
// q is 1 for the label and 0 elsewhere, mixed with an amount e of another distribution, in one of two definitions:
//
//   uniform   1 - e on the label, plus e / classes on every class, the label too
//             Szegedy et al. 2016; PyTorch's label_smoothing
//   others    1 - e on the label, and e / (classes - 1) on every other class
//             the code of Vaswani et al. 2017; fairseq

namespace attn {

enum class Smoothing { uniform, others };

/// What the label's class and what every other class gets.
struct SmoothedLabel {
  double label, other;
  constexpr SmoothedLabel(Smoothing kind, double amount, Index classes)
      : label(kind == Smoothing::uniform ? 1 - amount + amount / static_cast<double>(classes)
              : classes > 1              ? 1 - amount
                                         : 1),
        other(kind == Smoothing::uniform ? amount / static_cast<double>(classes)
                                         : (classes > 1 ? amount / static_cast<double>(classes - 1) : 0)) {}
};

template <class Device>
struct CrossEntropyArgs {
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;
  Matrix<Scalar> logits;  // rows x classes; becomes the gradient
  const Token* labels;    // rows
  Smoothing smoothing = Smoothing::uniform;
  double amount = 0;      // e
  bool gradient = false;  // whether the logits become their gradient
  double scale = 1;       // of the gradient
  Real* nll;              // 1, accumulates
  Real* loss;             // 1, accumulates
};

template <class Device>
struct CrossEntropyGradientArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> logits;  // rows x classes
  const Token* labels;          // rows
  Smoothing smoothing = Smoothing::uniform;
  double amount = 0;  // e
  double scale = 1;
  const typename Device::Real* upstream = nullptr;  // 1, on the device; none counts as 1
  Sink<Scalar> dlogits;                             // rows x classes
};

template <class Device>
void cross_entropy(Device&, const CrossEntropyArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void cross_entropy_gradient(Device&, const CrossEntropyGradientArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
