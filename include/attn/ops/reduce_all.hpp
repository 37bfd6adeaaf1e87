#pragma once
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// reduce_all   y[0] += scale * sum of all elements of x, always in the same order
//
// Its gradient is ops/fill.hpp.

namespace attn {

template <class Device>
struct ReduceAllArgs {
  Matrix<const typename Device::Scalar> x;
  typename Device::Real* y;  // 1, accumulates
  double scale = 1;
};

template <class Device>
void reduce_all(Device&, const ReduceAllArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
