#pragma once
#include <algorithm>

#include "attn/cpu/device.hpp"
#include "attn/ops/scatter_rows.hpp"

namespace attn {

template <class T>
void scatter_rows(Cpu<T>&, const ScatterRowsArgs<Cpu<T>>& args) {
  for (Index i = 0; i < args.from.rows; ++i) std::copy_n(args.from.row(i), args.from.cols, args.to.row(args.row[i]));
}

}  // namespace attn
