#pragma once
#include "attn/core/matrix.hpp"

// scatter_rows   to[row[i]] = from[i]: new keys and values into their sentences' places in a cache

namespace attn {

template <class Device>
struct ScatterRowsArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> from;  // rows x width
  const std::int32_t* row;    // rows
  Matrix<Scalar> to;          // places x width
};

}  // namespace attn
