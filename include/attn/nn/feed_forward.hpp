#pragma once
#include "attn/nn/linear.hpp"

namespace attn {

/// y = dropout(relu(x W₁ᵀ + b₁)) W₂ᵀ + b₂, for each position alone. Vaswani et al. 2017, section 3.3.
template <class Device, int Width, int Inner>
struct FeedForward {
  Linear<Device, Width, Inner> up;
  Linear<Device, Inner, Width> down;
  float dropout = 0;  // of the inner activations

  explicit FeedForward(float rate = 0) : dropout(rate) {}

  Variable<Device, Width> operator()(Tape<Device>& tape, Variable<Device, Width> x) const {
    return feed_forward(tape, x, up.weight, up.bias, down.weight, down.bias, dropout);
  }

  void for_each_parameter(auto&& visit) {
    visit("up", up);
    visit("down", down);
  }
};

}  // namespace attn
