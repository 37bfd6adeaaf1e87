#pragma once
#include "attn/nn/layer_input.hpp"
#include "attn/tape/layer_norm.hpp"

namespace attn {

/// A visitor that sets the epsilon of all norms of a model.
struct SetNormEpsilon {
  float value;
  void epsilon(float& of_norm) const { of_norm = value; }
  void operator()(const auto&, auto& layer) const {
    if constexpr (requires { layer.for_each_parameter(*this); }) layer.for_each_parameter(*this);
  }
  void tie(auto&, auto&) const {}
};

template <class Device, int Width, bool Center>
struct NormOf {
  static constexpr const char* name = Center ? "LayerNorm" : "RmsNorm";
  using X = Variable<Device, Width>;

  Parameter<Device> gain, bias;  // an RmsNorm's bias is empty
  float epsilon = 1e-5f;

  NormOf() requires(Width != dynamic) : NormOf(Width) {}
  explicit NormOf(Size<Width> width) : gain{width, 1, Initializer::constant(1)} {
    if constexpr (Center) bias = {width, 1};
  }

  X operator()(X x) const {
    check_input(name, gain.rows, x);
    return output_of<Device, Width>(name, layer_norm(x, gain, bias, Center, epsilon));
  }
  /// norm(x + dropout(branch, rate)), in one pass.
  template <int Sum, int Branch>
  X operator()(const ResidualSum<Device, Sum, Branch>& sum) const {
    const auto& dropped = get<1>(sum.of).of;
    const Variable<Device> x = get<0>(sum.of), branch = get<0>(dropped);
    check_input(name, gain.rows, x);
    const Dropout drop = get<1>(dropped).dropout();
    return output_of<Device, Width>(name, residual_layer_norm(x, branch, gain, bias, drop, Center, epsilon));
  }

  void for_each_parameter(auto&& visit) {
    if constexpr (requires { visit.epsilon(epsilon); }) visit.epsilon(epsilon);
    visit("gain", gain);
    if constexpr (Center) visit("bias", bias);
  }
};

/// y = (x - mean(x)) / sqrt(variance(x) + epsilon) * gain + bias, for each row. torch.nn.LayerNorm.
template <class Device, int Width = dynamic>
using LayerNorm = NormOf<Device, Width, true>;

}  // namespace attn
