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

/// y = (x - mean(x)) / sqrt(variance(x) + epsilon) * gain + bias, for each row. torch.nn.LayerNorm.
template <class Device, int Width = dynamic>
struct LayerNorm {
  using X = Variable<Device, Width>;

  Parameter<Device> gain, bias;
  float epsilon = 1e-5f;

  LayerNorm() requires(Width != dynamic) : LayerNorm(Width) {}
  explicit LayerNorm(Size<Width> width) : gain{width, 1, Initializer::constant(1)}, bias{width, 1} {}

  X operator()(X x) const {
    check_input("LayerNorm", gain.rows, x);
    return output_of<Device, Width>("LayerNorm", layer_norm(x, gain, bias, true, epsilon));
  }
  /// norm(x + dropout(branch, rate)), in one pass.
  template <int Sum, int Branch>
  X operator()(const ResidualSum<Device, Sum, Branch>& sum) const {
    const auto& [x, branch, mask] = parts(sum);
    check_input("LayerNorm", gain.rows, x);
    return output_of<Device, Width>("LayerNorm", residual_layer_norm(x, branch, gain, bias, mask.dropout(), true, epsilon));
  }

  void for_each_parameter(auto&& visit) {
    if constexpr (requires { visit.epsilon(epsilon); }) visit.epsilon(epsilon);
    visit("gain", gain);
    visit("bias", bias);
  }
};

}  // namespace attn
