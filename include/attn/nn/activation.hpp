#pragma once
#include "attn/tape/arithmetic.hpp"

namespace attn {

// Activation policies: the activation function of a feed-forward block. Any element-wise function works (ops/functions.hpp).

using functions::Gelu;       // tanh form, as in GPT-2
using functions::GeluExact;  // erf form, PyTorch's default
using functions::Relu;       // Vaswani et al. 2017
using functions::Silu;
using Swish = functions::Silu;  // Marian's name for it

template <class Function>
concept ActivationPolicy = requires(float x) {
  { Function::value(x) } -> std::same_as<float>;
};

}  // namespace attn
