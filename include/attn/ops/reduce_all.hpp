#pragma once
#include "attn/core/matrix.hpp"

// reduce_all   y[0] += scale * sum of all elements of x, in a fixed order
//
// Its gradient is ops/fill.hpp.

namespace attn {

template <class Device>
struct ReduceAllArgs {
  Matrix<const typename Device::Scalar> x;
  typename Device::Real* y;  // 1, accumulates
  double scale = 1;
};

}  // namespace attn
