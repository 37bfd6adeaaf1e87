#pragma once
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// scatter_rows   to[row[i]] = from[i]: new keys and values into their sentences' places in a cache

namespace attn {

template <class Device>
struct ScatterRowsArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> from;  // rows x width
  const std::int32_t* row;    // rows, all different
  Matrix<Scalar> to;          // places x width
};

template <class Device>
void scatter_rows(Device&, const ScatterRowsArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
