#pragma once
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// copy_rows   rows[to[i]] = rows[from[i]]: keys and values of a hypothesis that goes on twice, within a cache. No row is both
//             read and written, and none is written twice.

namespace attn {

template <class Device>
struct CopyRowsArgs {
  Matrix<typename Device::Scalar> rows;  // places x width
  const std::int32_t *from, *to;         // count
  Index count = 0;
};

template <class Device>
void copy_rows(Device&, const CopyRowsArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
