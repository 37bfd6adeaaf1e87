#pragma once
#include "attn/ops/operands.hpp"

// Softmax, cross-entropy with smoothed labels, and optionally the gradient, in one pass over the logits.
//
//   cross_entropy   nll  += sum over rows of -log p[label]
//                   loss += sum over rows of -sum over classes of q[class] log p[class],   p = softmax(logits)
//                   dlogits = scale * (p - q), the gradient of scale * loss; may replace the logits
//
// q is 1 for the label and 0 elsewhere, mixed with weight e with another distribution. Two definitions:
//
//   uniform   1 - e on the label, plus e / classes on every class including the label
//             Szegedy et al. 2016; PyTorch's label_smoothing
//   others    1 - e on the label, and e / (classes - 1) on every other class
//             the code of Vaswani et al. 2017; fairseq

namespace attn {

enum class Smoothing { uniform, others };

/// Target probabilities of the label and of every other class.
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
  InputOf<Device> logits;  // rows x classes
  const Token* labels;     // rows
  Smoothing smoothing = Smoothing::uniform;
  double amount = 0;            // e
  double scale = 1;             // of the gradient
  typename Device::Real* nll;   // 1, accumulates
  typename Device::Real* loss;  // 1, accumulates
  SinkOf<Device> dlogits = {};  // rows x classes, or none; sets if it is the logits
};

// The Kullback-Leibler divergence between soft targets p and softmax(logits), as in knowledge distillation.
//
//   kl_divergence   y[0] += scale * sum over rows and classes of p * (log(p) - log_softmax(logits)),   0 log 0 = 0
//                   dlogits = gradient_scale * (softmax(logits) * sum(p) - p)
//
// torch.nn.functional.kl_div(log_softmax(logits), p, reduction="sum"). The targets are constants.

template <class Device>
struct KlDivergenceArgs {
  InputOf<Device> logits;  // rows x classes
  InputOf<Device> target;  // rows x classes: p, probabilities
  double scale = 1, gradient_scale = 1;
  typename Device::Real* y;     // 1, accumulates
  SinkOf<Device> dlogits = {};  // rows x classes, or none
};

}  // namespace attn
