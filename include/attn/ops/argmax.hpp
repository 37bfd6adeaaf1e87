#pragma once
#include "attn/core/matrix.hpp"

// argmax   best[i] = the column of the largest logit of row i; of equals the first

namespace attn {

template <class Device>
struct ArgmaxArgs {
  Matrix<const typename Device::Scalar> logits;  // rows x classes
  Token* best;                                   // rows
};

}  // namespace attn
