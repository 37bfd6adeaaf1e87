#pragma once
#include "attn/cpu/dropout.hpp"
#include "attn/ops/residual.hpp"

namespace attn {

template <class T>
void residual(Cpu<T>& device, const ResidualArgs<Cpu<T>>& args) {
  device.parallel_ranges(args.x.rows, 16, [&](Index first, Index last, int thread) {
    T* buffer = device.workspace(thread, args.x.cols);
    for (Index i = first; i < last; ++i) {
      std::copy_n(args.x.row(i), args.x.cols, args.z.row(i));
      cpu::drop_row(args.dropout, i, args.branch.row(i), args.z.row(i), args.x.cols, true, buffer);
    }
  });
}

}  // namespace attn
