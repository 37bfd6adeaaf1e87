#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/optimisers.hpp"

namespace attn {
namespace kernels {

template <int N>
__global__ void __launch_bounds__(256) moving_average(const float* value, float* average, Index count, float weight) {
  for_each_pack<N>(count, [&]<int M>(Index at) {
    const Pack<float, M> newest = load_pack<M>(value + at);
    Pack<float, M> mean = load_pack<M>(average + at);
#pragma unroll
    for (int k = 0; k < M; ++k) mean.set(k, mean[k] + weight * (newest[k] - mean[k]));
    store_pack(average + at, mean);
  });
}

template <int N, class T>
__global__ void __launch_bounds__(256) exchange_average(ExchangeAverageArgs<Cuda<T>> args) {
  for_each_pack<N>(args.count, [&]<int M>(Index at) {
    const Pack<float, M> value = load_pack<M>(args.value + at), average = load_pack<M>(args.average + at);
    store_pack(args.value + at, average);
    store_pack(args.average + at, value);
    if constexpr (!std::is_same_v<T, float>) {
      Pack<T, M> compute;
#pragma unroll
      for (int k = 0; k < M; ++k) compute.set(k, average[k]);
      if (args.compute != nullptr) store_pack(args.compute + at, compute);
    }
  });
}

}  // namespace kernels

template <class T>
void moving_average(Cuda<T>& device, const MovingAverageArgs<Cuda<T>>& args) {
  with_packs<float>(in_packs(args.value, 0, 0) && in_packs(args.average, 0, 0), [&]<int N>() {
    launch(device, "moving_average", {{static_cast<unsigned>(divide_up(args.count, 256 * N))}, 256},
           kernels::moving_average<N>, args.value, args.average, args.count, static_cast<float>(1 - args.decay));
  });
}

template <class T>
void exchange_average(Cuda<T>& device, const ExchangeAverageArgs<Cuda<T>>& args) {
  const bool aligned = in_packs(args.value, 0, 0) && in_packs(args.average, 0, 0) && in_packs(args.compute, 0, 0);
  with_packs<float>(aligned, [&]<int N>() {
    launch(device, "exchange_average", {{static_cast<unsigned>(divide_up(args.count, 256 * N))}, 256},
           kernels::exchange_average<N, T>, args);
  });
}

}  // namespace attn
