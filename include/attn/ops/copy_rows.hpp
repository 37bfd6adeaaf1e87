#pragma once
#include "attn/core/matrix.hpp"

// copy_rows   rows[to[i]] = rows[from[i]]: duplicates the keys and values of a hypothesis in a cache. No row is both read
//             and written, and none is written twice.

namespace attn {

template <class Device>
struct CopyRowsArgs {
  Matrix<typename Device::Scalar> rows;  // cache rows x width
  const std::int32_t *from, *to;         // count
  Index count = 0;
};

}  // namespace attn
