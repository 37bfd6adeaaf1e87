#pragma once
#include "attn/cpu/sum_of_squares.hpp"
#include "attn/cpu/update_runs.hpp"
#include "attn/ops/sgd.hpp"

namespace attn {

template <class T>
void sgd(Cpu<T>& device, const SgdArgs<Cpu<T>>& args) {
  if (cpu::leave_out(device, args.left_out, args.squares, args.gradient, args.count, args.step)) return;
  const SgdOptions& o = args.options;
  const T clip = T(cpu::clip_factor(o.clip_norm, args.squares));
  const T momentum = T(o.momentum);
  cpu::for_each_run<T>(device, args.count, args.factors, [&](Index at, Index count, const UpdateFactors<T>& factors) {
    auto value = cpu::array(args.value + at, count), g = cpu::array(args.gradient + at, count);
    if (factors.rate == 0) {
      g.setZero();
      return;
    }
    const T rate = T(args.rate * static_cast<double>(factors.rate));
    const T decay = args.factors == nullptr ? T(o.weight_decay) : factors.weight_decay;
    g = g * clip;
    if (decay != 0) g += decay * value;
    if (momentum == 0) {
      value -= rate * g;
    } else {
      auto b = cpu::array(args.momentum + at, count);
      b = momentum * b + g;
      if (o.nesterov)
        value -= rate * (g + momentum * b);
      else
        value -= rate * b;
    }
    g.setZero();
  });
}

}  // namespace attn
