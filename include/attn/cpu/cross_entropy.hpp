#pragma once
#include <cmath>

#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/cross_entropy.hpp"

namespace attn {

template <class T>
void cross_entropy(Cpu<T>& device, const CrossEntropyArgs<Cpu<T>>& args) {
  const Index rows = args.logits.rows, classes = args.logits.cols;
  const SmoothedLabel q(args.smoothing, args.amount, classes);
  T* losses = device.results(2 * rows);  // row by row, so that the order of the sum is the order of the rows
  device.parallel_ranges(rows, 1, [&](Index first, Index last, int thread) {
    // Exponentials in a place of their own: the same bits with and without a gradient, wherever a row begins.
    auto exponentials = cpu::array(device.workspace(thread, classes, 1), classes);
    for (Index i = first; i < last; ++i) {
      auto row = cpu::row_array(args.logits, i);
      const Index label = args.labels[i];
      const T most = row.maxCoeff(), at_label = row[label];
      const T total = args.amount > 0 ? row.sum() : T(0);
      exponentials = (row - most).exp();
      const T sum = exponentials.sum(), lse = most + std::log(sum);
      // -sum of q log p = lse * sum of q - sum of q * logit, and the q sum to 1
      losses[2 * i] = lse - at_label;
      losses[2 * i + 1] = lse - T(q.label - q.other) * at_label - T(q.other) * total;
      if (args.gradient) {
        const T scale = T(args.scale);
        if (q.other > 0)
          row = exponentials * (scale / sum) - scale * T(q.other);
        else
          row = exponentials * (scale / sum);
        row[label] -= scale * T(q.label - q.other);
      }
    }
  });
  for (Index i = 0; i < rows; ++i) {
    *args.nll += losses[2 * i];
    *args.loss += losses[2 * i + 1];
  }
}

}  // namespace attn
