#pragma once
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// argmax   best[i] = the column of the largest logit of row i, `except` left out; of equals the first

namespace attn {

template <class Device>
struct ArgmaxArgs {
  Matrix<const typename Device::Scalar> logits;  // rows x classes
  Token* best;                                   // rows
  Token except = -1;                             // a class that is never best, or none
};

template <class Device>
void argmax(Device&, const ArgmaxArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
