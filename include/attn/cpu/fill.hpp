#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/fill.hpp"

namespace attn {

template <class T>
void fill(Cpu<T>& device, const FillArgs<Cpu<T>>& args) {
  const Matrix<T> y = args.y.to;
  const T value = T(args.value);
  device.parallel_ranges(y.rows, cpu::worthwhile_rows(y.cols), [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i)
      cpu::put(cpu::row_array(y, i), cpu::RowArray<T>::PlainObject::Constant(y.cols, value), args.y.add);
  });
}

}  // namespace attn
