#pragma once
#include <algorithm>
#include <cmath>

#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/sum_of_squares.hpp"

namespace attn {

template <class T>
void sum_of_squares(Cpu<T>& device, const SumOfSquaresArgs<Cpu<T>>& args) {
  constexpr Index kBlock = 1 << 14;  // fixed blocks, summed in order: the same bits for any number of threads
  const Index blocks = (args.count + kBlock - 1) / kBlock;
  T* sums = device.results(blocks);
  device.parallel(blocks, [&](Index b, int) {
    sums[b] = cpu::array(args.x + b * kBlock, std::min(kBlock, args.count - b * kBlock)).square().sum();
  });
  *args.total = 0;
  for (Index b = 0; b < blocks; ++b) *args.total += sums[b];
}

namespace cpu {

/// The factor by which clipping scales all gradients.
template <class T>
double clip_factor(double clip_norm, const T* squares) {
  if (clip_norm <= 0) return 1;
  return std::min(1.0, clip_norm / (std::sqrt(static_cast<double>(*squares)) + 1e-6));
}

/// Returns whether the gradients are non-finite, so that the step is skipped. Records skipped steps in `left_out`.
template <class T>
bool leave_out(Cpu<T>& device, const LeftOut<T>& left_out, const T* squares, T* gradient, Index count, Index step) {
  if (left_out.noted == nullptr || std::isfinite(*squares)) return false;
  if (left_out.noted[0] == 0) left_out.noted[1] = static_cast<T>(step);
  left_out.noted[0] += 1;
  if (!left_out.keep_gradients) device.zero(gradient, count);
  return true;
}

}  // namespace cpu

}  // namespace attn
