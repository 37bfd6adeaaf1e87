#pragma once
#include <cmath>

#include "attn/cpu/sum_of_squares.hpp"
#include "attn/ops/adam.hpp"

namespace attn {

template <class T>
void adam(Cpu<T>& device, const AdamArgs<Cpu<T>>& args) {
  if (cpu::leave_out(device, args.left_out, args.squares, args.gradient, args.count, args.step)) return;
  const AdamOptions& o = args.options;
  const double clip = cpu::clip_factor(o.clip_norm, args.squares);
  const double correction1 = 1 - std::pow(o.beta1, static_cast<double>(args.step));
  const double correction2 = 1 - std::pow(o.beta2, static_cast<double>(args.step));
  const bool decoupled = o.decay == AdamOptions::Decay::decoupled;
  const T coupled = T(decoupled ? 0 : o.weight_decay), shrink = T(decoupled ? 1 - args.rate * o.weight_decay : 1);
  const T b1 = T(o.beta1), b2 = T(o.beta2), step = T(args.rate / correction1), root = T(1 / std::sqrt(correction2));
  const T rest1 = T(1 - o.beta1), rest2 = T(1 - o.beta2);  // in float, 1 - b would lose digits
  constexpr Index kBlock = 1 << 14, kPart = 1 << 10;       // a part stays in the nearest cache from one line to the next
  device.parallel((args.count + kBlock - 1) / kBlock, [&](Index b, int) {
    for (Index at = b * kBlock, end = std::min(args.count, at + kBlock); at < end; at += kPart) {
      const Index count = std::min(kPart, end - at);
      auto value = cpu::array(args.value + at, count), g = cpu::array(args.gradient + at, count);
      auto m = cpu::array(args.m + at, count), v = cpu::array(args.v + at, count);
      g = g * T(clip);
      if (coupled != 0) g += coupled * value;
      m = b1 * m + rest1 * g;
      v = b2 * v + rest2 * g.square();
      if (o.amsgrad) {
        auto largest = cpu::array(args.largest_v + at, count);
        largest = largest.max(v);
        value = value * shrink - step * m / (largest.sqrt() * root + T(o.epsilon));
      } else {
        value = value * shrink - step * m / (v.sqrt() * root + T(o.epsilon));
      }
      g.setZero();
    }
  });
}

}  // namespace attn
