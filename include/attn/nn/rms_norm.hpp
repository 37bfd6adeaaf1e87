#pragma once
#include "attn/tape/layer_norm.hpp"

namespace attn {

/// y = x / sqrt(mean(x²) + 1e-5) * gain, of each row. Zhang and Sennrich 2019; torch.nn.RMSNorm.
template <class Device, int Width>
struct RmsNorm {
  Parameter<Device> gain{Width, 1, Initial::constant(1)};

  Variable<Device, Width> operator()(Tape<Device>& tape, Variable<Device, Width> x) const {
    return rms_norm(tape, x, gain);
  }
  /// Of x + dropout(branch), in one pass.
  Variable<Device, Width> operator()(Tape<Device>& tape, Variable<Device, Width> x, Variable<Device, Width> branch,
                                     float rate) const {
    return residual_rms_norm(tape, x, branch, gain, rate);
  }

  void for_each_parameter(auto&& visit) { visit("gain", gain); }
};

}  // namespace attn
