#pragma once
#include <cmath>

#include "attn/cuda/device.cuh"
#include "attn/cuda/sum_of_squares.cuh"
#include "attn/ops/optimisers.hpp"

namespace attn {
namespace kernels {

/// Factors of an Adam step, computed on the host in double.
struct AdamFactors {
  float beta1, rest1;  // rest = 1 - beta, computed in double
  float beta2, rest2;
  float epsilon;
  float step, root;       // rate / (1 - beta1^t), 1 / sqrt(1 - beta2^t)
  float coupled, shrink;  // weight decay, coupled to the gradient or decoupled
  float clip_norm;        // 0: no clipping
  float rate;
  bool decoupled;
};

/// `Grouped`: args.factors is a table.
template <int N, bool Grouped, class T>
__global__ void __launch_bounds__(256) adam(AdamArgs<Cuda<T>> args, AdamFactors by) {
  if (leave_out<N>(args)) return;
  const float clip = clip_factor(by.clip_norm, args.squares);
  for_each_pack<N>(args.count, [&]<int M>(Index at) {
    float coupled = by.coupled, shrink = by.shrink, step = by.step;
    if constexpr (Grouped) {  // a pack never crosses a parameter block
      const UpdateFactors<float> factors = args.factors[at / kParameterBlock];
      if (factors.rate == 0) return store_pack(args.gradient + at, Pack<float, M>{});
      coupled = by.decoupled ? 0 : factors.weight_decay;
      shrink = by.decoupled ? 1 - by.rate * factors.rate * factors.weight_decay : 1;
      step *= factors.rate;
    }
    Pack<float, M> value = load_pack<M>(args.value + at), m = load_pack<M>(args.m + at), v = load_pack<M>(args.v + at);
    const Pack<float, M> gradient = load_pack<M>(args.gradient + at);
    Pack<float, M> largest = v;
    if (args.options.amsgrad) largest = load_pack<M>(args.largest_v + at);
    Pack<T, M> compute;
#pragma unroll
    for (int k = 0; k < M; ++k) {
      const float g = gradient[k] * clip + coupled * value[k];
      m.set(k, by.beta1 * m[k] + by.rest1 * g);
      v.set(k, by.beta2 * v[k] + by.rest2 * (g * g));
      largest.set(k, args.options.amsgrad ? fmaxf(largest[k], v[k]) : v[k]);
      value.set(k, value[k] * shrink - step * m[k] / (sqrtf(largest[k]) * by.root + by.epsilon));
      compute.set(k, value[k]);
    }
    store_pack(args.value + at, value);
    store_pack(args.m + at, m);
    store_pack(args.v + at, v);
    store_pack(args.gradient + at, Pack<float, M>{});
    if (args.options.amsgrad) store_pack(args.largest_v + at, largest);
    if constexpr (!std::is_same_v<T, float>)
      if (args.compute != nullptr) store_pack(args.compute + at, compute);
  });
}

}  // namespace kernels

template <class T>
void adam(Cuda<T>& device, const AdamArgs<Cuda<T>>& args) {
  const AdamOptions& o = args.options;
  const bool decoupled = o.decay == AdamOptions::Decay::decoupled;
  const auto number = [](double x) { return static_cast<float>(x); };
  const auto steps = static_cast<double>(args.step);
  const kernels::AdamFactors by{.beta1 = number(o.beta1),
                                .rest1 = number(1 - o.beta1),
                                .beta2 = number(o.beta2),
                                .rest2 = number(1 - o.beta2),
                                .epsilon = number(o.epsilon),
                                .step = number(args.rate / (1 - std::pow(o.beta1, steps))),
                                .root = number(1 / std::sqrt(1 - std::pow(o.beta2, steps))),
                                .coupled = number(decoupled ? 0 : o.weight_decay),
                                .shrink = number(decoupled ? 1 - args.rate * o.weight_decay : 1),
                                .clip_norm = number(o.clip_norm),
                                .rate = number(args.rate),
                                .decoupled = decoupled};
  const auto aligned = [](const auto*... places) { return (in_packs(places, 0, 0) && ...); };
  with_packs<float>(aligned(args.value, args.gradient, args.m, args.v, args.largest_v, args.compute), [&]<int N>() {
    const auto kernel = args.factors == nullptr ? kernels::adam<N, false, T> : kernels::adam<N, true, T>;
    launch(device, "adam", {{static_cast<unsigned>(divide_up(args.count, 256 * N))}, 256}, kernel, args, by);
  });
}

}  // namespace attn
