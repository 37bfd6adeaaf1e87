#pragma once
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// scatter_rows   to[row[i]] = from[i]: new keys and values into their sentences' places in a cache
//
// Where a cache grows (`appends`), the other rows of `to` are older than the op that gives `from`, and what comes next is attention in
// which row[i] is the last key of sentence i, and of no other: a device may do both at once.

namespace attn {

template <class Device>
struct ScatterRowsArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> from;  // rows x width
  const std::int32_t* row;    // rows, all different
  Matrix<Scalar> to;          // places x width
  bool appends = false;
};

template <class Device>
void scatter_rows(Device&, const ScatterRowsArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
