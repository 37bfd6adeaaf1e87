#pragma once
#include "attn/core/matrix.hpp"

// scatter_rows   to[row[i]] = from[i]: appends new keys and values to a cache
//
// With `appends`, the other rows of `to` predate the op that computes `from`, and the next op is attention in which row[i]
// is the last key of sentence i and of no other: a device may fuse the two.

namespace attn {

template <class Device>
struct ScatterRowsArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> from;  // rows x width
  const std::int32_t* row;    // rows, all different
  Matrix<Scalar> to;          // destination rows x width
  bool appends = false;
};

}  // namespace attn
