#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/optimisers.hpp"

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

/// update(at, value, gradient, rate, decay) for consecutive pieces of the flat buffers. Gradients are clipped before and 0
/// afterwards. A piece stays in the nearest cache while `update` makes several passes over it, and all its blocks have
/// equal factors. Skips the step if the gradients are not finite.
template <class T>
void update_parameters(Cpu<T>& device, const auto& args, const auto& update) {
  if (T* const noted = args.left_out.noted; noted != nullptr && !std::isfinite(*args.squares)) {
    if (noted[0] == 0) noted[1] = static_cast<T>(args.step);
    noted[0] += 1;
    if (!args.left_out.keep_gradients) device.zero(args.gradient, args.count);
    return;
  }
  const double most = args.options.clip_norm;
  const T clip = most <= 0 ? T(1) : T(std::min(1.0, most / (std::sqrt(static_cast<double>(*args.squares)) + 1e-6)));
  constexpr Index kChunk = 1 << 14, kPiece = 1 << 10;
  device.parallel((args.count + kChunk - 1) / kChunk, [&](Index chunk, int) {
    for (Index at = chunk * kChunk, end = std::min(args.count, at + kChunk), next = 0; at < end; at = next) {
      next = std::min(end, at + kPiece);
      UpdateFactors<T> factors;
      double decay = args.options.weight_decay;
      if (const UpdateFactors<T>* table = args.factors; table != nullptr) {
        factors = table[at / kParameterBlock];
        decay = static_cast<double>(factors.weight_decay);
        Index same = at + kParameterBlock;
        while (same < next && table[same / kParameterBlock] == factors) same += kParameterBlock;
        next = std::min(same, next);
      }
      auto value = array(args.value + at, next - at), g = array(args.gradient + at, next - at);
      if (factors.rate != 0) {
        g = g * clip;
        update(at, value, g, args.rate * static_cast<double>(factors.rate), decay);
      }
      g.setZero();
    }
  });
}

}  // namespace cpu

template <class T>
void adam(Cpu<T>& device, const AdamArgs<Cpu<T>>& args) {
  const AdamOptions& o = args.options;
  const double correction1 = 1 - std::pow(o.beta1, static_cast<double>(args.step));
  const double correction2 = 1 - std::pow(o.beta2, static_cast<double>(args.step));
  const bool decoupled = o.decay == AdamOptions::Decay::decoupled;
  const T b1 = T(o.beta1), b2 = T(o.beta2), root = T(1 / std::sqrt(correction2));
  const T rest1 = T(1 - o.beta1), rest2 = T(1 - o.beta2);  // in float, 1 - b would lose digits
  cpu::update_parameters(device, args, [&](Index at, auto& value, auto& g, double rate, double decay) {
    auto m = cpu::array(args.m + at, g.size()), v = cpu::array(args.v + at, g.size());
    const T coupled = T(decoupled ? 0 : decay), shrink = T(decoupled ? 1 - rate * decay : 1), step = T(rate / correction1);
    if (coupled != 0) g += coupled * value;
    m = b1 * m + rest1 * g;
    v = b2 * v + rest2 * g.square();
    if (o.amsgrad) {
      auto largest = cpu::array(args.largest_v + at, g.size());
      largest = largest.max(v);
      value = value * shrink - step * m / (largest.sqrt() * root + T(o.epsilon));
    } else {
      value = value * shrink - step * m / (v.sqrt() * root + T(o.epsilon));
    }
  });
}

template <class T>
void sgd(Cpu<T>& device, const SgdArgs<Cpu<T>>& args) {
  const T momentum = T(args.options.momentum);
  cpu::update_parameters(device, args, [&](Index at, auto& value, auto& g, double rate_of_piece, double decay_of_piece) {
    const T rate = T(rate_of_piece), decay = T(decay_of_piece);
    if (decay != 0) g += decay * value;
    if (momentum == 0) {
      value -= rate * g;
    } else {
      auto b = cpu::array(args.momentum + at, g.size());
      b = momentum * b + g;
      if (args.options.nesterov)
        value -= rate * (g + momentum * b);
      else
        value -= rate * b;
    }
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
