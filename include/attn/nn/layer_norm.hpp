#pragma once
#include "attn/tape/layer_norm.hpp"

namespace attn {

/// y = (x - mean(x)) / sqrt(variance(x) + 1e-5) * gain + bias, of each row. torch.nn.LayerNorm.
template <class Device, int Width>
struct LayerNorm {
  Parameter<Device> gain{Width, 1, Initial::constant(1)};
  Parameter<Device> bias{Width, 1};

  Variable<Device, Width> operator()(Tape<Device>& tape, Variable<Device, Width> x) const {
    return layer_norm(tape, x, gain, bias);
  }
  /// Of x + dropout(branch), in one pass.
  Variable<Device, Width> operator()(Tape<Device>& tape, Variable<Device, Width> x, Variable<Device, Width> branch,
                                     float rate) const {
    return residual_layer_norm(tape, x, branch, gain, bias, rate);
  }

  void for_each_parameter(auto&& visit) {
    visit("gain", gain);
    visit("bias", bias);
  }
};

}  // namespace attn
