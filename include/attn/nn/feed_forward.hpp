#pragma once
#include <type_traits>

#include "attn/nn/activation.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tape/dropout.hpp"

namespace attn {

/// y = dropout(f(x W₁ᵀ + b₁)) W₂ᵀ + b₂, for each position alone; f is the activation. Vaswani et al. 2017, section 3.3.
template <class Device, int Width, int Inner, class Activation = Relu>
struct FeedForward {
  static_assert(ActivationPolicy<Activation, Device, Inner>,
                "attn: an activation policy needs  static Variable activate(tape, x)");

  Linear<Device, Width, Inner> up;
  Linear<Device, Inner, Width> down;
  float dropout = 0;  // of the inner activations

  explicit FeedForward(float rate = 0) : dropout(rate) {}

  Variable<Device, Width> operator()(Tape<Device>& tape, Variable<Device, Width> x) const {
    if constexpr (std::is_same_v<Activation, Relu>)  // rides on the matrix products
      return feed_forward(tape, x, up.weight, up.bias, down.weight, down.bias, dropout);
    else
      return down(tape, attn::dropout(tape, Activation::activate(tape, up(tape, x)), dropout));
  }

  void for_each_parameter(auto&& visit) {
    visit("up", up);
    visit("down", down);
  }
};

}  // namespace attn
