#pragma once
#include "attn/core/parameter.hpp"

namespace attn {

/// How an optimiser updates one block of kParameterBlock numbers of the flat buffers: the entries of the table that gives
/// parameters different learning rates and weight decays.
template <class Real>
struct UpdateFactors {
  Real rate = 1;          // factor on the learning rate; 0: the block, and its state, stay as they are
  Real weight_decay = 0;  // instead of the options'
  bool operator==(const UpdateFactors&) const = default;
};

}  // namespace attn
