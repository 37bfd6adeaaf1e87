#pragma once
#include "attn/ops/dropout.hpp"
#include "attn/ops/no_backend.hpp"

// residual   z = x + dropout(s). The gradients are dx = dz and ds = dropout(dz): two calls of the dropout op.

namespace attn {

template <class Device>
struct ResidualArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> x, branch;  // rows x width
  Dropout dropout = {};            // of the branch
  Matrix<Scalar> z;                // rows x width
};

template <class Device>
void residual(Device&, const ResidualArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
