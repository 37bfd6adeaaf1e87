#pragma once
#include "attn/core/parameter.hpp"

namespace attn {

/// Update factors of one block of kParameterBlock values in the flat buffers. A table of them gives parameters different
/// learning rates and weight decays.
template <class Real>
struct UpdateFactors {
  Real rate = 1;          // factor on the learning rate; 0: the block and its state do not change
  Real weight_decay = 0;  // overrides the options'
  bool operator==(const UpdateFactors&) const = default;
};

}  // namespace attn
