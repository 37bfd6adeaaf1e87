#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "attn/cpu/cross_entropy.hpp"
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/softmax.hpp"

namespace attn {

namespace cpu {

/// work(i, seen) for each row i that the mask covers. Row i sees its first `seen` columns.
template <class T, class Work>
void for_each_masked_row(Cpu<T>& device, const RaggedMask& mask, Index rows, Index cols, const Work& work) {
  if (!mask.active()) return device.parallel_rows(rows, cols, [&](Index i) { work(i, cols); });
  device.parallel(mask.queries.count, [&](Index s, int) {
    const Index begin = mask.queries.begin[s], queries = mask.queries.length(s), keys = mask.keys.length(s);
    for (Index i = 0; i < queries; ++i)
      work(begin + i, mask.causal ? std::clamp<Index>(keys - queries + i + 1, 0, keys) : keys);
  });
}

}  // namespace cpu

template <class T>
void softmax(Cpu<T>& device, const SoftmaxArgs<Cpu<T>>& args) {
  const Index cols = args.x.cols;
  check_mask("softmax", args.mask, cols);
  if (args.mask.active()) zero_outside(device, args.mask.queries, Sink<T>{args.y});
  cpu::for_each_masked_row(device, args.mask, args.x.rows, cols, [&](Index i, Index seen) {
    const T* x = args.x.row(i);
    T* y = args.y.row(i);
    const T most = seen > 0 ? cpu::largest(x, seen) : -std::numeric_limits<T>::infinity();
    if (most == -std::numeric_limits<T>::infinity()) seen = 0;
    std::fill(y + seen, y + cols, T(0));
    if (seen == 0) return;
    const T sum = cpu::exponentials(x, seen, most, y);
    auto row = cpu::array(y, seen);
    if (args.log)
      row = cpu::array(x, seen) - most - std::log(sum);
    else
      row /= sum;
  });
}

template <class T>
void softmax_gradient(Cpu<T>& device, const SoftmaxGradientArgs<Cpu<T>>& args) {
  const Index cols = args.y.cols;
  check_mask("softmax_gradient", args.mask, cols);
  if (args.mask.active()) zero_outside(device, args.mask.queries, args.dx);
  cpu::for_each_masked_row(device, args.mask, args.y.rows, cols, [&](Index i, Index seen) {
    const auto y = cpu::array(args.y.row(i), seen), dy = cpu::array(args.dy.row(i), seen);
    auto dx = cpu::array(args.dx.to.row(i), seen);
    if (args.log)
      cpu::put(dx, dy - y.exp() * dy.sum(), args.dx.add);
    else
      cpu::put(dx, y * (dy - (y * dy).sum()), args.dx.add);
    if (!args.dx.add) std::fill(args.dx.to.row(i) + seen, args.dx.to.row(i) + cols, T(0));
  });
}

}  // namespace attn
