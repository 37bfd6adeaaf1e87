#pragma once
#include "attn/core/matrix.hpp"

// fill   sets every element of y to a number or adds the number; the gradient of ops/reduce_all.hpp

namespace attn {

template <class Device>
struct FillArgs {
  double value;
  Sink<typename Device::Scalar> y;
};

}  // namespace attn
