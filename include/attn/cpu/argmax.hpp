#pragma once
#include <algorithm>

#include "attn/cpu/cross_entropy.hpp"
#include "attn/cpu/device.hpp"
#include "attn/ops/argmax.hpp"

namespace attn {

template <class T>
void argmax(Cpu<T>& device, const ArgmaxArgs<Cpu<T>>& args) {
  constexpr Index kBlock = 512;
  device.parallel_ranges(args.logits.rows, 1, [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i) {
      const T* row = args.logits.row(i);
      const auto best = [&](Index from, Index to) {  // finds its block with vector instructions, then its place
        Index block = from;
        T most = cpu::largest(row + from, std::min(kBlock, to - from));
        for (Index next = from + kBlock; next < to; next += kBlock) {
          const T here = cpu::largest(row + next, std::min(kBlock, to - next));
          if (here > most) most = here, block = next;
        }
        const T* end = row + std::min(to, block + kBlock);
        const T* place = std::find(row + block, end, most);
        return place < end ? place - row : 0;  // not found: the row holds NaN
      };
      const Index cols = args.logits.cols, hole = args.except;
      if (hole < 0 || hole >= cols || cols == 1) {  // a single class cannot be excluded
        args.best[i] = static_cast<Token>(best(0, cols));
      } else {
        const Index left = hole > 0 ? best(0, hole) : best(1, cols), right = hole + 1 < cols ? best(hole + 1, cols) : left;
        args.best[i] = static_cast<Token>(row[right] > row[left] ? right : left);
      }
    }
  });
}

}  // namespace attn
