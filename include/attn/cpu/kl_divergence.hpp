#pragma once
#include <cmath>

#include "attn/cpu/cross_entropy.hpp"
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/kl_divergence.hpp"

namespace attn {

template <class T>
void kl_divergence(Cpu<T>& device, const KlDivergenceArgs<Cpu<T>>& args) {
  const Index rows = args.logits.rows, classes = args.logits.cols;
  if (classes == 0) return;
  T* losses = device.results(rows);  // per row, so that they are summed in row order
  device.parallel_ranges(rows, 1, [&](Index first, Index last, int thread) {
    T* exponentials = device.workspace(thread, classes, 1);
    for (Index i = first; i < last; ++i) {
      const T *x = args.logits.row(i), *p = args.target.row(i);
      const T most = cpu::largest(x, classes), log_sum = std::log(cpu::exponentials(x, classes, most, exponentials));
      losses[i] = 0;
      for (Index j = 0; j < classes; ++j)
        if (p[j] != 0) losses[i] += p[j] * (std::log(p[j]) - (x[j] - most - log_sum));
    }
  });
  T total = 0;
  for (Index i = 0; i < rows; ++i) total += losses[i];
  *args.y += T(args.scale) * total;
}

template <class T>
void kl_divergence_gradient(Cpu<T>& device, const KlDivergenceGradientArgs<Cpu<T>>& args) {
  const Index classes = args.logits.cols;
  if (classes == 0) return;
  const T scale = T(args.scale) * (args.upstream == nullptr ? T(1) : *args.upstream);
  device.parallel_ranges(args.logits.rows, 1, [&](Index first, Index last, int thread) {
    auto exponentials = cpu::array(device.workspace(thread, classes, 1), classes);
    for (Index i = first; i < last; ++i) {
      const T* x = args.logits.row(i);
      const auto p = cpu::row_array(args.target, i);
      const T sum = cpu::exponentials(x, classes, cpu::largest(x, classes), exponentials.data());
      cpu::put(cpu::row_array(args.dlogits.to, i), exponentials * (scale * p.sum() / sum) - scale * p, args.dlogits.add);
    }
  });
}

}  // namespace attn
