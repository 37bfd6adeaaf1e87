#pragma once
#include "attn/nn/layer_norm.hpp"

namespace attn {

/// A layer that passes its input on: what stands where a policy needs no layer.
template <class Device, int Width>
struct Identity {
  Variable<Device, Width> operator()(Tape<Device>&, Variable<Device, Width> x) const { return x; }
  void for_each_parameter(auto&&) {}
};

// Norm policies say where a residual connection normalises, and what normalises the end of a stack of them.

/// layer_norm(x + dropout(f(x))), as in the paper. Vaswani et al. 2017.
struct PostNorm {
  template <class Device, int Width>
  using Final = Identity<Device, Width>;

  template <class Device, int Width, class Sublayer>
  static Variable<Device, Width> connect(Tape<Device>& tape, Variable<Device, Width> x,
                                         const LayerNorm<Device, Width>& norm, float rate, const Sublayer& f) {
    return residual_layer_norm(tape, x, f(x), norm.gain, norm.bias, rate);
  }
};

/// x + dropout(f(layer_norm(x))): trains deep stacks without a warm-up. Xiong et al. 2020.
struct PreNorm {
  template <class Device, int Width>
  using Final = LayerNorm<Device, Width>;

  template <class Device, int Width, class Sublayer>
  static Variable<Device, Width> connect(Tape<Device>& tape, Variable<Device, Width> x,
                                         const LayerNorm<Device, Width>& norm, float rate, const Sublayer& f) {
    return residual(tape, x, f(norm(tape, x)), rate);
  }
};

template <class Policy, class Device, int Width>
concept HasFinalNorm = requires {
  typename Policy::template Final<Device, Width>;
};
template <class Policy, class Device, int Width>
concept ConnectsResidual = requires(Tape<Device>& tape, Variable<Device, Width> x, const LayerNorm<Device, Width>& norm,
                                    Variable<Device, Width> (*f)(Variable<Device, Width>)) {
  { Policy::connect(tape, x, norm, 0.1f, f) } -> std::same_as<Variable<Device, Width>>;
};

template <class Policy, class Device, int Width>
concept NormPolicy = HasFinalNorm<Policy, Device, Width> && ConnectsResidual<Policy, Device, Width>;

/// A sub-layer's residual connection with its normalisation, where the policy puts it.
template <class Device, int Width, class Norm>
struct Residual {
  static_assert(HasFinalNorm<Norm, Device, Width>,
                "attn: a norm policy needs  template <class Device, int Width> using Final");
  static_assert(ConnectsResidual<Norm, Device, Width>,
                "attn: a norm policy needs  static Variable connect(tape, x, norm, dropout_rate, sublayer)");

  LayerNorm<Device, Width> norm;
  float dropout = 0;

  explicit Residual(float rate = 0) : dropout(rate) {}

  template <class Sublayer>
  Variable<Device, Width> operator()(Tape<Device>& tape, Variable<Device, Width> x, const Sublayer& sublayer) const {
    return Norm::connect(tape, x, norm, dropout, sublayer);
  }

  void for_each_parameter(auto&& visit) { norm.for_each_parameter(visit); }
};

}  // namespace attn
