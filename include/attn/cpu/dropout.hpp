#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/dropout.hpp"

namespace attn {

namespace cpu {

/// Writes the dropout factors of row i, columns first to first + count - 1, to `out`. Plain loops vectorise.
template <class T>
void factors(const Dropout& dropout, Index i, Index first, Index count, T* out) {
  const Dropout::Row row = dropout.row(i);
  for (Index j = 0; j < count; ++j) out[j] = static_cast<T>(row(static_cast<std::uint32_t>(first + j)));
}

/// to (+)= dropout(from) for one row. buffer: as wide as the row.
template <class T>
void drop_row(const Dropout& dropout, Index i, const T* from, T* to, Index count, bool add, T* buffer) {
  if (!dropout.active()) return put(array(to, count), array(from, count), add);
  factors(dropout, i, 0, count, buffer);
  put(array(to, count), array(from, count) * array(buffer, count), add);
}

}  // namespace cpu

template <class T>
void dropout(Cpu<T>& device, const DropoutArgs<Cpu<T>>& args) {
  device.parallel_ranges(args.x.rows, 16, [&](Index first, Index last, int thread) {
    T* buffer = device.workspace(thread, args.x.cols);
    for (Index i = first; i < last; ++i)
      cpu::drop_row(args.dropout, i, args.x.row(i), args.y.to.row(i), args.x.cols, args.y.add, buffer);
  });
}

}  // namespace attn
