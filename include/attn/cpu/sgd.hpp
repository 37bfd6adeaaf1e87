#pragma once
#include "attn/cpu/sum_of_squares.hpp"
#include "attn/ops/sgd.hpp"

namespace attn {

template <class T>
void sgd(Cpu<T>& device, const SgdArgs<Cpu<T>>& args) {
  if (cpu::leave_out(device, args.left_out, args.squares, args.gradient, args.count, args.step)) return;
  const SgdOptions& o = args.options;
  const T clip = T(cpu::clip_factor(o.clip_norm, args.squares));
  const T decay = T(o.weight_decay), momentum = T(o.momentum), rate = T(args.rate);
  constexpr Index kBlock = 1 << 14, kPart = 1 << 10;  // a part stays in the nearest cache from one line to the next
  device.parallel((args.count + kBlock - 1) / kBlock, [&](Index block, int) {
    for (Index at = block * kBlock, end = std::min(args.count, at + kBlock); at < end; at += kPart) {
      const Index count = std::min(kPart, end - at);
      auto value = cpu::array(args.value + at, count), g = cpu::array(args.gradient + at, count);
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
    }
  });
}

}  // namespace attn
