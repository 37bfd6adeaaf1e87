#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/sum_of_squares.cuh"
#include "attn/ops/optimisers.hpp"

namespace attn {
namespace kernels {

struct SgdFactors {
  float rate, momentum, decay;
  float clip_norm;  // 0: no clipping
};

/// `Grouped`: args.factors is a table.
template <int N, bool Grouped, class T>
__global__ void __launch_bounds__(256) sgd(SgdArgs<Cuda<T>> args, SgdFactors by) {
  if (leave_out<N>(args)) return;
  const float clip = clip_factor(by.clip_norm, args.squares);
  for_each_pack<N>(args.count, [&]<int M>(Index at) {
    float rate = by.rate, decay = by.decay;
    if constexpr (Grouped) {  // a pack never crosses a parameter block
      const UpdateFactors<float> factors = args.factors[at / kParameterBlock];
      if (factors.rate == 0) return store_pack(args.gradient + at, Pack<float, M>{});
      rate *= factors.rate;
      decay = factors.weight_decay;
    }
    Pack<float, M> value = load_pack<M>(args.value + at), b{};
    const Pack<float, M> gradient = load_pack<M>(args.gradient + at);
    if (by.momentum > 0) b = load_pack<M>(args.momentum + at);
    Pack<T, M> compute;
#pragma unroll
    for (int k = 0; k < M; ++k) {
      const float g = gradient[k] * clip + decay * value[k];
      b.set(k, by.momentum * b[k] + g);  // without momentum it is g
      value.set(k, value[k] - rate * (args.options.nesterov ? g + by.momentum * b[k] : b[k]));
      compute.set(k, value[k]);
    }
    store_pack(args.value + at, value);
    store_pack(args.gradient + at, Pack<float, M>{});
    if (by.momentum > 0) store_pack(args.momentum + at, b);
    if constexpr (!std::is_same_v<T, float>)
      if (args.compute != nullptr) store_pack(args.compute + at, compute);
  });
}

}  // namespace kernels

template <class T>
void sgd(Cuda<T>& device, const SgdArgs<Cuda<T>>& args) {
  const SgdOptions& o = args.options;
  const auto number = [](double x) { return static_cast<float>(x); };
  const kernels::SgdFactors by{.rate = number(args.rate),
                               .momentum = number(o.momentum),
                               .decay = number(o.weight_decay),
                               .clip_norm = number(o.clip_norm)};
  const auto aligned = [](const auto*... places) { return (in_packs(places, 0, 0) && ...); };
  with_packs<float>(aligned(args.value, args.gradient, args.momentum, args.compute), [&]<int N>() {
    const auto kernel = args.factors == nullptr ? kernels::sgd<N, false, T> : kernels::sgd<N, true, T>;
    launch(device, "sgd", {{static_cast<unsigned>(divide_up(args.count, 256 * N))}, 256}, kernel, args, by);
  });
}

}  // namespace attn
