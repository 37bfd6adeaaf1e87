#pragma once
#include "attn/nn/rms_norm.hpp"

namespace attn {

// Norm policies define where a residual connection normalises, and which layer normalises the output of a stack. They are
// templates on the norm: LayerNorm or RmsNorm.

/// norm(x + dropout(f(x))). Vaswani et al. 2017.
template <template <class, int> class Kind>
struct PostNormOf {
  template <class Device, int Width>
  using Norm = Kind<Device, Width>;
  template <class Device, int Width>
  using Final = Identity<Device, Width>;

  template <class Device, int Width, class Sublayer>
  static Variable<Device, Width> connect(Variable<Device, Width> x, const Kind<Device, Width>& norm, float rate,
                                         const Sublayer& f) {
    const Variable<Device, Width> branch = f(x);
    return norm(x + dropout(branch, rate));
  }
};

/// x + dropout(f(norm(x))): trains deep stacks without warm-up. Xiong et al. 2020.
template <template <class, int> class Kind>
struct PreNormOf {
  template <class Device, int Width>
  using Norm = Kind<Device, Width>;
  template <class Device, int Width>
  using Final = Kind<Device, Width>;

  template <class Device, int Width, class Sublayer>
  static Variable<Device, Width> connect(Variable<Device, Width> x, const Kind<Device, Width>& norm, float rate,
                                         const Sublayer& f) {
    const Variable<Device, Width> branch = f(norm(x));
    return x + dropout(branch, rate);
  }
};

using PostNorm = PostNormOf<LayerNorm>;
using PreNorm = PreNormOf<LayerNorm>;

/// PostNorm with another norm at the end of the stack: torch.nn.Transformer's default.
struct PostNormAndFinal : PostNorm {
  template <class Device, int Width>
  using Final = LayerNorm<Device, Width>;
};

/// The norm of a policy: its Norm, or LayerNorm if it has none.
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
concept ConnectsResidual = requires(Variable<Device, Width> x, const typename NormLayer<Policy, Device, Width>::Type& norm,
                                    Variable<Device, Width> (*f)(Variable<Device, Width>)) {
  { Policy::connect(x, norm, 0.1f, f) } -> std::convertible_to<Variable<Device, Width>>;
};

template <class Policy, class Device, int Width>
concept NormPolicy = HasFinalNorm<Policy, Device, Width> && ConnectsResidual<Policy, Device, Width>;

/// The residual connection of a sub-layer and its norm, placed by the policy. A policy may instead define the whole
/// connection as a layer with its own parameters:  template <class Device, int Width> struct Connection,  constructible from
/// (width, dropout rate), with operator()(x, sublayer).
template <class Device, int Width, class Norm>
struct Residual {
  static_assert(HasFinalNorm<Norm, Device, Width>,
                "attn: a norm policy needs  template <class Device, int Width> using Final");
  static_assert(ConnectsResidual<Norm, Device, Width>,
                "attn: a norm policy needs  static Variable connect(x, norm, dropout_rate, sublayer)");
  using X = Variable<Device, Width>;

  typename NormLayer<Norm, Device, Width>::Type norm;
  float dropout = 0;

  explicit Residual(float rate = 0) requires(Width != dynamic) : dropout(rate) {}
  Residual(Size<Width> width, float rate = 0) : norm(width), dropout(rate) {}

  X operator()(X x, const auto& sublayer) const {
    X y = Norm::connect(x, norm, dropout, sublayer);
    if (y.layer == nullptr) y.layer = "Residual";
    return y;
  }

  void for_each_parameter(auto&& visit) { norm.for_each_parameter(visit); }
};
template <class Device, int Width, class Norm>
requires requires { typename Norm::template Connection<Device, Width>; }
struct Residual<Device, Width, Norm> : Norm::template Connection<Device, Width> {
  static_assert(HasFinalNorm<Norm, Device, Width>,
                "attn: a norm policy needs  template <class Device, int Width> using Final");
  using Norm::template Connection<Device, Width>::Connection;
};

}  // namespace attn
