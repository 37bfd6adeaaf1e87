#pragma once
#include "attn/nn/layer_norm.hpp"

namespace attn {

/// y = x / sqrt(mean(x²) + epsilon) * gain, for each row. Zhang and Sennrich 2019; torch.nn.RMSNorm.
template <class Device, int Width = dynamic>
using RmsNorm = NormOf<Device, Width, false>;

}  // namespace attn
