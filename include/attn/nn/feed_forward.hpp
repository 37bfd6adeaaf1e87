#pragma once
#include "attn/nn/activation.hpp"
#include "attn/nn/linear.hpp"

namespace attn {

/// y = dropout(f(x W₁ᵀ + b₁)) W₂ᵀ + b₂ for each position; f is the activation. Vaswani et al. 2017, section 3.3.
template <class Device, int Width = dynamic, int Inner = dynamic, class Activation = Relu>
struct FeedForward {
  static_assert(ActivationPolicy<Activation>,
                "attn: an activation policy is a function of a number:  template <class T> static T value(T x)");
  using X = Variable<Device, Width>;

  Linear<Device, Width, Inner> up;
  Linear<Device, Inner, Width> down;
  float dropout = 0;  // of the inner activations

  explicit FeedForward(float rate = 0) requires(Width != dynamic && Inner != dynamic) : FeedForward(Width, Inner, rate) {}
  FeedForward(Size<Width> width, Size<Inner> inner, float rate = 0) : up(width, inner), down(inner, width), dropout(rate) {}

  X operator()(X x) const {
    check_input("FeedForward", up.weight.cols, x);
    X y;
    if constexpr (std::is_same_v<Activation, Relu>)  // fused with the matrix products
      y = feed_forward(x, up.weight, up.bias, down.weight, down.bias, dropout);
    else
      y = down(attn::dropout(apply<Activation>(up(x)), dropout));
    return output_of("FeedForward", y);
  }

  void for_each_parameter(auto&& visit) {
    visit("up", up);
    visit("down", down);
  }
};

/// A gated feed-forward block: y = dropout(f(x W₁ᵀ) * x W₂ᵀ) W₃ᵀ, without biases. Shazeer 2020; Llama.
template <class Device, int Width = dynamic, int Inner = dynamic, class Activation = functions::Silu>
struct GatedFeedForward {
  using X = Variable<Device, Width>;

  Projection<Device, Width, Inner> gate, up;
  Projection<Device, Inner, Width> down;
  float dropout = 0;  // of the inner activations

  explicit GatedFeedForward(float rate = 0) requires(Width != dynamic && Inner != dynamic)
      : GatedFeedForward(Width, Inner, rate) {}
  GatedFeedForward(Size<Width> width, Size<Inner> inner, float rate = 0)
      : gate(width, inner), up(width, inner), down(inner, width), dropout(rate) {}

  X operator()(X x) const {
    check_input("GatedFeedForward", up.weight.cols, x);
    return output_of<Device, Width>("GatedFeedForward", down(attn::dropout(apply<Activation>(gate(x)) * up(x), dropout)));
  }

  void for_each_parameter(auto&& visit) {
    visit("gate", gate);
    visit("up", up);
    visit("down", down);
  }
};

// Feed-forward policies: an activation, or a type with  template <class Device, int Width, int Inner> using Layer,
// constructible from (width, inner, dropout rate).

struct SwiGlu {
  template <class Device, int Width, int Inner>
  using Layer = GatedFeedForward<Device, Width, Inner, functions::Silu>;
};
struct GeGlu {
  template <class Device, int Width, int Inner>
  using Layer = GatedFeedForward<Device, Width, Inner, functions::GeluExact>;
};

template <class Policy, class Device, int Width, int Inner>
struct SelectFeedForward {
  using Type = FeedForward<Device, Width, Inner, Policy>;
};
template <class Policy, class Device, int Width, int Inner>
requires requires { typename Policy::template Layer<Device, Width, Inner>; }
struct SelectFeedForward<Policy, Device, Width, Inner> {
  using Type = typename Policy::template Layer<Device, Width, Inner>;
};
template <class Policy, class Device, int Width, int Inner>
using FeedForwardOf = typename SelectFeedForward<Policy, Device, Width, Inner>::Type;

}  // namespace attn
