#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/gather_rows.hpp"

namespace attn {

template <class T>
void gather_rows(Cpu<T>& device, const GatherRowsArgs<Cpu<T>>& args) {
  device.parallel_ranges(args.to.rows, cpu::worthwhile_rows(args.to.cols), [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i) std::copy_n(args.from.row(args.row[i]), args.to.cols, args.to.row(i));
  });
}

template <class T>
void gather_rows_gradient(Cpu<T>&, const GatherRowsGradientArgs<Cpu<T>>& args) {
  if (!args.dfrom.add) cpu::clear(args.dfrom.to);
  for (Index i = 0; i < args.dto.rows; ++i) cpu::row_array(args.dfrom.to, args.row[i]) += cpu::row_array(args.dto, i);
}

}  // namespace attn
