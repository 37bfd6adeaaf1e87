#pragma once
#include <algorithm>

#include "attn/cpu/device.hpp"
#include "attn/ops/copy_rows.hpp"

namespace attn {

template <class T>
void copy_rows(Cpu<T>& device, const CopyRowsArgs<Cpu<T>>& args) {
  device.parallel_ranges(args.count, cpu::worthwhile_rows(args.rows.cols), [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i)
      std::copy_n(args.rows.row(args.from[i]), args.rows.cols, args.rows.row(args.to[i]));
  });
}

}  // namespace attn
