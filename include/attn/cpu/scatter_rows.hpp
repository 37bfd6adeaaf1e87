#pragma once
#include <algorithm>

#include "attn/cpu/device.hpp"
#include "attn/ops/scatter_rows.hpp"

namespace attn {

template <class T>
void scatter_rows(Cpu<T>& device, const ScatterRowsArgs<Cpu<T>>& args) {
  device.parallel_ranges(args.from.rows, cpu::worthwhile_rows(args.from.cols), [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i) std::copy_n(args.from.row(i), args.from.cols, args.to.row(args.row[i]));
  });
}

}  // namespace attn
