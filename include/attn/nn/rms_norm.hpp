#pragma once
#include "attn/nn/layer_input.hpp"
#include "attn/tape/layer_norm.hpp"

namespace attn {

/// y = x / sqrt(mean(x²) + epsilon) * gain, for each row. Zhang and Sennrich 2019; torch.nn.RMSNorm.
template <class Device, int Width = dynamic>
struct RmsNorm {
  using X = Variable<Device, Width>;

  Parameter<Device> gain;
  float epsilon = 1e-5f;

  RmsNorm() requires(Width != dynamic) : RmsNorm(Width) {}
  explicit RmsNorm(Size<Width> width) : gain{width, 1, Initializer::constant(1)} {}

  X operator()(X x) const {
    check_input("RmsNorm", gain.rows, x);
    return output_of<Device, Width>("RmsNorm", rms_norm(x, gain, epsilon));
  }
  /// norm(x + dropout(branch, rate)), in one pass.
  template <int Sum, int Branch>
  X operator()(const ResidualSum<Device, Sum, Branch>& sum) const {
    const auto& [x, branch, mask] = parts(sum);
    check_input("RmsNorm", gain.rows, x);
    return output_of<Device, Width>("RmsNorm", residual_rms_norm(x, branch, gain, mask.dropout(), epsilon));
  }

  void for_each_parameter(auto&& visit) {
    if constexpr (requires { visit.epsilon(epsilon); }) visit.epsilon(epsilon);
    visit("gain", gain);
  }
};

}  // namespace attn
