#pragma once
#include <algorithm>
#include <cmath>

#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/optimisers.hpp"

namespace attn::cpu {

/// update(at, count, factors) for consecutive pieces of the flat buffers. A piece stays in the nearest cache while `update`
/// makes several passes over it, and all its blocks have equal factors. Without a table, factors are UpdateFactors<T>{}.
template <class T, class Update>
void for_each_run(Cpu<T>& device, Index total, const UpdateFactors<T>* table, const Update& update) {
  constexpr Index kChunk = 1 << 14, kPiece = 1 << 10;
  device.parallel((total + kChunk - 1) / kChunk, [&](Index chunk, int) {
    for (Index at = chunk * kChunk, end = std::min(total, at + kChunk), next = 0; at < end; at = next) {
      const Index limit = std::min(end, at + kPiece);
      const UpdateFactors<T> factors = table == nullptr ? UpdateFactors<T>{} : table[at / kParameterBlock];
      next = limit;
      if (table != nullptr)
        for (next = at + kParameterBlock; next < limit && table[next / kParameterBlock] == factors;)
          next += kParameterBlock;
      next = std::min(next, limit);
      update(at, next - at, factors);
    }
  });
}

}  // namespace attn::cpu

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

template <class T>
void moving_average(Cpu<T>& device, const MovingAverageArgs<Cpu<T>>& args) {
  const T weight = T(1 - args.decay);
  device.parallel_ranges(args.count, 1 << 14, [&](Index first, Index last, int) {
    auto average = cpu::array(args.average + first, last - first);
    average += weight * (cpu::array(args.value + first, last - first) - average);
  });
}

template <class T>
void exchange_average(Cpu<T>& device, const ExchangeAverageArgs<Cpu<T>>& args) {
  device.parallel_ranges(args.count, 1 << 14, [&](Index first, Index last, int) {
    std::swap_ranges(args.value + first, args.value + last, args.average + first);
  });
}

}  // namespace attn
