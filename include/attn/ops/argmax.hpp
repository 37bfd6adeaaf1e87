#pragma once
#include "attn/core/matrix.hpp"

// argmax   best[i] = the column of the largest logit of row i, excluding `except`; the first of equal ones

namespace attn {

template <class Device>
struct ArgmaxArgs {
  Matrix<const typename Device::Scalar> logits;  // rows x classes
  Token* best;                                   // rows
  Token except = -1;                             // a class to exclude, or -1
};

}  // namespace attn
