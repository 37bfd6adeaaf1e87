#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"

namespace attn {
namespace kernels {

template <int N, class T>
__global__ void __launch_bounds__(256) convert(const float* from, T* to, Index count) {
  for_each_pack<N>(count, [&]<int M>(Index at) {
    const Pack<float, M> numbers = load_pack<M>(from + at);
    Pack<T, M> rounded;
    unrolled<M>([&](int k) { rounded.set(k, numbers[k]); });
    store_pack(to + at, rounded);
  });
}

}  // namespace kernels

/// Updates the low-precision copy of parameters.
template <class T>
void convert(Cuda<T>& device, const float* values, T* compute, Index count) {
  with_packs<T>(in_packs(values, 0, 0) && in_packs(compute, 0, 0), [&]<int N>() {
    launch(device, "convert", {{static_cast<unsigned>(divide_up(count, 256 * N))}, 256}, kernels::convert<N, T>, values,
           compute, count);
  });
}

}  // namespace attn
