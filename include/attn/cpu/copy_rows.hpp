#pragma once
#include <algorithm>

#include "attn/cpu/device.hpp"
#include "attn/ops/copy_rows.hpp"

namespace attn {

template <class T>
void copy_rows(Cpu<T>& device, const CopyRowsArgs<Cpu<T>>& args) {
  constexpr Index kWorthwhile = 1 << 14;  // numbers that take longer than it does to wake the other threads
  const Index grain = std::max<Index>(1, kWorthwhile / std::max<Index>(1, args.rows.cols));
  device.parallel_ranges(args.count, grain, [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i)
      std::copy_n(args.rows.row(args.from[i]), args.rows.cols, args.rows.row(args.to[i]));
  });
}

}  // namespace attn
