#pragma once
#include <algorithm>

#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/argmax.hpp"

namespace attn {

template <class T>
void argmax(Cpu<T>& device, const ArgmaxArgs<Cpu<T>>& args) {
  device.parallel_ranges(args.logits.rows, 1, [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i) {
      // The maximum is found by vector instructions; only the search for its place is a plain loop.
      const T* row = args.logits.row(i);
      const T most = cpu::row_array(args.logits, i).maxCoeff();
      const Index place = std::find(row, row + args.logits.cols, most) - row;
      args.best[i] = static_cast<Token>(place < args.logits.cols ? place : 0);  // not found: the row holds NaN
    }
  });
}

}  // namespace attn
