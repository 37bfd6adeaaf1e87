#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/moving_average.hpp"

namespace attn {

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
