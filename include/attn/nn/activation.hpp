#pragma once
#include <concepts>

#include "attn/tape/activation.hpp"

namespace attn {

// Activation policies: what a feed-forward block does to each of its inner numbers. A policy has
//
//   static Variable activate(Tape&, Variable x)   a differentiable function of the tape

template <ActivationKind Kind>
struct ActivationOf {
  template <class Device, int Width>
  static Variable<Device, Width> activate(Tape<Device>& tape, Variable<Device, Width> x) {
    return activation(tape, x, Kind);
  }
};

struct Relu : ActivationOf<ActivationKind::relu> {};             // Vaswani et al. 2017
struct Gelu : ActivationOf<ActivationKind::gelu> {};             // by tanh, as GPT-2 has it
struct GeluExact : ActivationOf<ActivationKind::gelu_exact> {};  // by erf, as PyTorch has it
struct Swish : ActivationOf<ActivationKind::swish> {};           // Marian's; SiLU

template <class Policy, class Device, int Width>
concept ActivationPolicy = requires(Tape<Device>& tape, Variable<Device, Width> x) {
  { Policy::activate(tape, x) } -> std::same_as<Variable<Device, Width>>;
};

}  // namespace attn
