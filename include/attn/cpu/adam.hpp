#pragma once
#include <cmath>

#include "attn/cpu/sum_of_squares.hpp"
#include "attn/cpu/update_runs.hpp"
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
  const T b1 = T(o.beta1), b2 = T(o.beta2), root = T(1 / std::sqrt(correction2));
  const T rest1 = T(1 - o.beta1), rest2 = T(1 - o.beta2);  // in float, 1 - b would lose digits
  cpu::for_each_run<T>(device, args.count, args.factors, [&](Index at, Index count, const UpdateFactors<T>& factors) {
    auto value = cpu::array(args.value + at, count), g = cpu::array(args.gradient + at, count);
    auto m = cpu::array(args.m + at, count), v = cpu::array(args.v + at, count);
    if (factors.rate == 0) {
      g.setZero();
      return;
    }
    const double rate = args.rate * static_cast<double>(factors.rate);
    const double decay = args.factors == nullptr ? o.weight_decay : static_cast<double>(factors.weight_decay);
    const T coupled = T(decoupled ? 0 : decay), shrink = T(decoupled ? 1 - rate * decay : 1), step = T(rate / correction1);
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
  });
}

}  // namespace attn
