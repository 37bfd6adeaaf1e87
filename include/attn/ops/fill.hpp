#pragma once
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// fill   sets every element of y to a number, or adds it: the gradient of ops/reduce_all.hpp

namespace attn {

template <class Device>
struct FillArgs {
  double value;
  Sink<typename Device::Scalar> y;
};

template <class Device>
void fill(Device&, const FillArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
