#pragma once
#include "attn/core/error.hpp"
#include "attn/ops/adam.hpp"
#include "attn/ops/sgd.hpp"

// Options that optimisers do not have but users of other libraries expect. A designated initializer with an unknown name
// fits no constructor, and the compiler lists all of them. With one of these names it fits the constructor that refuses it in
// one sentence. The members of the real options are here as well, because a list may mix both. Valid lists prefer the real
// constructor, because the other takes a const Network.

namespace attn::detail {

struct UnknownAdamOption {
  double lr = 0, learning_rate = 0, rate = 0, params = 0;
  double betas = 0, b1 = 0, b2 = 0, beta_1 = 0, beta_2 = 0, beta = 0, eps = 0, momentum = 0;
  double beta1 = 0, beta2 = 0, epsilon = 0, wd = 0, l2 = 0, weightdecay = 0, decay_weight = 0, weight_decay = 0;
  AdamOptions::Decay decay = {};
  bool decoupled = false, decoupled_weight_decay = false, decay_bias = false, decay_biases = false, decay_vectors = false;
  bool amsgrad = false, maximize = false, fused = false;
  double clip = 0, clipping = 0, grad_clip = 0, gradient_clip = 0, max_norm = 0, max_grad_norm = 0, clipnorm = 0;
  double clip_norm = 0;
};

struct UnknownSgdOption {
  double lr = 0, learning_rate = 0, rate = 0, params = 0, mu = 0, momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  double wd = 0, l2 = 0, weightdecay = 0, decay_weight = 0, decay = 0, weight_decay = 0;
  bool decay_bias = false, decay_biases = false, decay_vectors = false, maximize = false, fused = false;
  double clip = 0, clipping = 0, grad_clip = 0, gradient_clip = 0, max_norm = 0, max_grad_norm = 0, clipnorm = 0;
  double clip_norm = 0;
};

template <class>
inline constexpr bool kKnown = false;

template <class Adam, class Argument>
Adam&& refuse_adam_option() {
  static_assert(
      kKnown<Argument>,
      "attn: Adam: no such option. AdamOptions has beta1, beta2, epsilon, weight_decay, decay, decay_vectors, amsgrad, "
      "clip_norm; the learning rate comes from the Trainer's schedule, or step(rate)");
  fail("Adam: no such option");
}

template <class Sgd, class Argument>
Sgd&& refuse_sgd_option() {
  static_assert(kKnown<Argument>,
                "attn: Sgd: no such option. SgdOptions has momentum, nesterov, weight_decay, decay_vectors, clip_norm; the "
                "learning rate comes from the Trainer's schedule, or step(rate)");
  fail("Sgd: no such option");
}

}  // namespace attn::detail
