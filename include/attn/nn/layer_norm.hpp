#pragma once
#include "attn/nn/layer_input.hpp"
#include "attn/tape/layer_norm.hpp"

namespace attn {

/// y = (x - mean(x)) / sqrt(variance(x) + 1e-5) * gain + bias, for each row. torch.nn.LayerNorm.
template <class Device, int Width = dynamic>
struct LayerNorm {
  using X = Variable<Device, Width>;

  Parameter<Device> gain, bias;

  LayerNorm() requires(Width != dynamic) : LayerNorm(Width) {}
  explicit LayerNorm(Size<Width> width) : gain{width, 1, Initial::constant(1)}, bias{width, 1} {}

  X operator()(X x) const {
    check_input("LayerNorm", gain.rows, x);
    return output_of<Device, Width>("LayerNorm", layer_norm(x, gain, bias));
  }
  /// norm(x + dropout(branch, rate)), in one pass.
  template <int Sum, int Branch>
  X operator()(const ResidualSum<Device, Sum, Branch>& sum) const {
    const auto& [x, branch, mask] = parts(sum);
    check_input("LayerNorm", gain.rows, x);
    return output_of<Device, Width>("LayerNorm", residual_layer_norm(x, branch, gain, bias, mask.dropout));
  }

  void for_each_parameter(auto&& visit) {
    visit("gain", gain);
    visit("bias", bias);
  }
};

}  // namespace attn
