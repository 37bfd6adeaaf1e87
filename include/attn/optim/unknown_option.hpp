#pragma once
#include "attn/core/error.hpp"

// Options that optimisers do not have but users of other libraries expect. A designated initializer with an unknown name
// fits no constructor, and the compiler lists all of them. With one of these names it fits the constructor that refuses
// it in one sentence. The members of the real options are here as well, because a list may mix both. Valid lists prefer
// the real constructor, because the other takes a const Network.

namespace attn::detail {

struct AnyValue {
  AnyValue() = default;
  AnyValue(const auto&) {}
};

struct UnknownOption {
  AnyValue lr = {}, lrate = {}, learning_rate = {}, learningRate = {}, rate = {}, alpha = {}, params = {}, betas = {},
           b1 = {}, b2 = {}, beta_1 = {}, beta_2 = {}, beta = {}, eps = {}, eta = {}, mu = {};
  AnyValue beta1 = {}, beta2 = {}, epsilon = {}, momentum = {}, dampening = {}, nesterov = {};
  AnyValue wd = {}, l2 = {}, weightdecay = {}, decay_weight = {}, weight_decay = {}, decay = {}, decoupled = {},
           decoupled_weight_decay = {}, decay_bias = {}, decay_biases = {}, decay_vectors = {}, amsgrad = {}, maximize = {},
           fused = {};
  AnyValue clip = {}, clipping = {}, grad_clip = {}, gradient_clip = {}, clip_grad = {}, clip_grad_norm = {}, max_norm = {},
           max_grad_norm = {}, clipnorm = {}, clip_norm = {};
};

template <class>
inline constexpr bool kKnown = false;

template <class Optim, class Argument>
Optim&& refuse_option() {
  static_assert(kKnown<Argument>,
                "attn: no such option. AdamOptions has beta1, beta2, epsilon, weight_decay, decay, decay_vectors, amsgrad, "
                "clip_norm; SgdOptions has momentum, nesterov, weight_decay, decay_vectors, clip_norm. The learning rate "
                "comes from the Trainer's schedule, or step(rate).");
  fail("no such option");
}

}  // namespace attn::detail
