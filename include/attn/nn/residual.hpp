#pragma once
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/rms_norm.hpp"

namespace attn {

/// A layer that passes its input on: what stands where a policy needs no layer.
template <class Device, int Width>
struct Identity {
  Variable<Device, Width> operator()(Tape<Device>&, Variable<Device, Width> x) const { return x; }
  void for_each_parameter(auto&&) {}
};

// Norm policies say where a residual connection normalises, and what normalises the end of a stack of them. They are templates
// on what normalises: LayerNorm or RmsNorm.

/// norm(x + dropout(f(x))), as in the paper. Vaswani et al. 2017.
template <template <class, int> class Kind>
struct PostNormOf {
  template <class Device, int Width>
  using Norm = Kind<Device, Width>;
  template <class Device, int Width>
  using Final = Identity<Device, Width>;

  template <class Device, int Width, class Sublayer>
  static Variable<Device, Width> connect(Tape<Device>& tape, Variable<Device, Width> x, const Kind<Device, Width>& norm,
                                         float rate, const Sublayer& f) {
    return norm(tape, x, f(x), rate);
  }
};

/// x + dropout(f(norm(x))): trains deep stacks without a warm-up. Xiong et al. 2020.
template <template <class, int> class Kind>
struct PreNormOf {
  template <class Device, int Width>
  using Norm = Kind<Device, Width>;
  template <class Device, int Width>
  using Final = Kind<Device, Width>;

  template <class Device, int Width, class Sublayer>
  static Variable<Device, Width> connect(Tape<Device>& tape, Variable<Device, Width> x, const Kind<Device, Width>& norm,
                                         float rate, const Sublayer& f) {
    return residual(tape, x, f(norm(tape, x)), rate);
  }
};

using PostNorm = PostNormOf<LayerNorm>;
using PreNorm = PreNormOf<LayerNorm>;

/// PostNorm, and a norm at the end of the stack, where its last layer has just normalised: torch.nn.Transformer's default.
struct PostNormAndFinal : PostNorm {
  template <class Device, int Width>
  using Final = LayerNorm<Device, Width>;
};

/// What a policy normalises with: its Norm; LayerNorm where it names none.
template <class Policy, class Device, int Width>
struct NormLayer {
  using Type = LayerNorm<Device, Width>;
};
template <class Policy, class Device, int Width>
requires requires { typename Policy::template Norm<Device, Width>; }
struct NormLayer<Policy, Device, Width> {
  using Type = typename Policy::template Norm<Device, Width>;
};

template <class Policy, class Device, int Width>
concept HasFinalNorm = requires {
  typename Policy::template Final<Device, Width>;
};
template <class Policy, class Device, int Width>
concept ConnectsResidual = requires(Tape<Device>& tape, Variable<Device, Width> x,
                                    const typename NormLayer<Policy, Device, Width>::Type& norm,
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

  typename NormLayer<Norm, Device, Width>::Type norm;
  float dropout = 0;

  explicit Residual(float rate = 0) : dropout(rate) {}

  template <class Sublayer>
  Variable<Device, Width> operator()(Tape<Device>& tape, Variable<Device, Width> x, const Sublayer& sublayer) const {
    return Norm::connect(tape, x, norm, dropout, sublayer);
  }

  void for_each_parameter(auto&& visit) { norm.for_each_parameter(visit); }
};

}  // namespace attn
