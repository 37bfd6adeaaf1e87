#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/cross_entropy.hpp"

namespace attn {

namespace cpu {

/// exp(x) for x <= 0, in float accurate to the last digit or two. Results below the normal floats are 0. Vectors of floats
/// take a third of the time of Eigen's exp, which also handles large values and infinities.
template <class Packet>
Packet exp_negative(const Packet& x) {
  using namespace Eigen::internal;
  if constexpr (std::is_same_v<typename unpacket_traits<Packet>::type, float> && unpacket_traits<Packet>::size > 1) {
    using Integers = typename unpacket_traits<Packet>::integer_packet;
    const auto number = [](float value) { return pset1<Packet>(value); };
    const Packet magic = number(12582912.f);  // 1.5 * 2^23: adding it rounds to integers, in the low bits
    const Packet tiny = pcmp_lt(x, number(-87.f)), near = pselect(tiny, number(-87.f), x);  // 2^n is a normal float
    const Packet shifted = pmadd(near, number(1.44269504f), magic), n = psub(shifted, magic);
    const Packet r =
        pmadd(n, number(-1.42860677e-6f), pmadd(n, number(-0.693145752f), near));  // near - n log 2, in two parts
    Packet y = number(1 / 5040.f);
    for (const float c : {1 / 720.f, 1 / 120.f, 1 / 24.f, 1 / 6.f, 0.5f, 1.f, 1.f}) y = pmadd(y, r, number(c));
    const Packet scaled = preinterpret<Packet>(
        padd(preinterpret<Integers>(y), plogical_shift_left<23>(preinterpret<Integers>(shifted))));  // y * 2^n
    return pselect(tiny, number(0.f), scaled);
  } else {
    return pexp(x);
  }
}

/// to = exp(row - most). Returns the sum. Processes several packets at once, so that none waits for another.
template <class T>
T exponentials(const T* row, Index count, T most, T* to) {
  using namespace Eigen::internal;
  using Packet = typename packet_traits<T>::type;
  constexpr Index kLanes = packet_traits<T>::size, kAtOnce = 4;
  const Packet shift = pset1<Packet>(most);
  Packet sums[kAtOnce];
  for (Packet& sum : sums) sum = pset1<Packet>(T(0));
  Index j = 0;
  for (; j + kAtOnce * kLanes <= count; j += kAtOnce * kLanes)
#pragma GCC unroll 4
    for (Index p = 0; p < kAtOnce; ++p) {
      const Packet e = exp_negative(psub(ploadu<Packet>(row + j + p * kLanes), shift));
      pstoreu(to + j + p * kLanes, e);
      sums[p] = padd(sums[p], e);
    }
  T sum = predux(padd(padd(sums[0], sums[1]), padd(sums[2], sums[3])));
  for (; j < count; ++j) sum += to[j] = std::exp(row[j] - most);
  return sum;
}

/// The maximum of a row, in the same way. The row must not hold NaN.
template <class T>
T largest(const T* row, Index count) {
  using namespace Eigen::internal;
  using Packet = typename packet_traits<T>::type;
  constexpr Index kLanes = packet_traits<T>::size, kAtOnce = 8;
  T most = row[0];
  Index j = 0;
  if (count >= kAtOnce * kLanes) {
    Packet found[kAtOnce];
#pragma GCC unroll 8
    for (Index p = 0; p < kAtOnce; ++p) found[p] = ploadu<Packet>(row + p * kLanes);
    for (j = kAtOnce * kLanes; j + kAtOnce * kLanes <= count; j += kAtOnce * kLanes)
#pragma GCC unroll 8
      for (Index p = 0; p < kAtOnce; ++p) found[p] = pmax(found[p], ploadu<Packet>(row + j + p * kLanes));
#pragma GCC unroll 8
    for (Index p = 1; p < kAtOnce; ++p) found[0] = pmax(found[0], found[p]);
    most = predux_max(found[0]);
  }
  for (; j < count; ++j) most = std::max(most, row[j]);
  return most;
}

}  // namespace cpu

template <class T>
void cross_entropy(Cpu<T>& device, const CrossEntropyArgs<Cpu<T>>& args) {
  const Index rows = args.logits.rows, classes = args.logits.cols;
  const SmoothedLabel q(args.smoothing, args.amount, classes);
  const T scale = T(args.scale);
  T* losses = device.results(2 * rows);  // per row, so that they are summed in row order
  device.parallel_ranges(rows, 1, [&](Index first, Index last, int thread) {
    // A separate buffer gives the same bits with and without a gradient, and for any alignment of a row.
    auto exponentials = cpu::array(device.workspace(thread, classes, 1), classes);
    for (Index i = first; i < last; ++i) {
      const auto row = cpu::row_array(args.logits, i);
      const Index label = args.labels[i];
      const T most = cpu::largest(row.data(), classes), at_label = row[label];
      const T total = args.amount > 0 ? row.sum() : T(0);
      const T sum = cpu::exponentials(row.data(), classes, most, exponentials.data()), lse = most + std::log(sum);
      // -sum of q log p = lse * sum of q - sum of q * logit, and the q sum to 1
      losses[2 * i] = lse - at_label;
      losses[2 * i + 1] = lse - T(q.label - q.other) * at_label - T(q.other) * total;
      if (args.dlogits.to.empty()) continue;
      auto gradient = cpu::row_array(args.dlogits.to, i);
      if (q.other > 0)
        cpu::put(gradient, exponentials * (scale / sum) - scale * T(q.other), args.dlogits.add);
      else
        cpu::put(gradient, exponentials * (scale / sum), args.dlogits.add);
      gradient[label] -= scale * T(q.label - q.other);
    }
  });
  for (Index i = 0; i < rows; ++i) {
    *args.nll += losses[2 * i];
    *args.loss += losses[2 * i + 1];
  }
}

template <class T>
void kl_divergence(Cpu<T>& device, const KlDivergenceArgs<Cpu<T>>& args) {
  const Index rows = args.logits.rows, classes = args.logits.cols;
  if (classes == 0) return;
  const T scale = T(args.gradient_scale);
  T* losses = device.results(rows);  // per row, so that they are summed in row order
  device.parallel_ranges(rows, 1, [&](Index first, Index last, int thread) {
    auto exponentials = cpu::array(device.workspace(thread, classes, 1), classes);
    for (Index i = first; i < last; ++i) {
      const T* x = args.logits.row(i);
      const auto p = cpu::row_array(args.target, i);
      const T most = cpu::largest(x, classes), sum = cpu::exponentials(x, classes, most, exponentials.data());
      const T log_sum = std::log(sum);
      losses[i] = 0;
      for (Index j = 0; j < classes; ++j)
        if (p[j] != 0) losses[i] += p[j] * (std::log(p[j]) - (x[j] - most - log_sum));
      if (!args.dlogits.to.empty())
        cpu::put(cpu::row_array(args.dlogits.to, i), exponentials * (scale * p.sum() / sum) - scale * p, args.dlogits.add);
    }
  });
  T total = 0;
  for (Index i = 0; i < rows; ++i) total += losses[i];
  *args.y += T(args.scale) * total;
}

}  // namespace attn
