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
      const auto best = [&](Index from, Index to) {
        const T most = cpu::array(row + from, to - from).maxCoeff();
        const Index place = std::find(row + from, row + to, most) - row;
        return place < to ? place : 0;  // not found: the row holds NaN
      };
      const Index cols = args.logits.cols, hole = args.except;
      if (hole < 0 || hole >= cols) {
        args.best[i] = static_cast<Token>(best(0, cols));
      } else {
        const Index left = hole > 0 ? best(0, hole) : best(1, cols), right = hole + 1 < cols ? best(hole + 1, cols) : left;
        args.best[i] = static_cast<Token>(row[right] > row[left] ? right : left);
      }
    }
  });
}

}  // namespace attn
