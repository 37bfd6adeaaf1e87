#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/move_rows.hpp"

namespace attn {
namespace kernels {

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) repeat_heads(RepeatHeadsArgs<Cuda<T>> args) {
  const Index i = row_of_warp();
  if (i >= args.x.rows) return;
  const int width = static_cast<int>(args.width), times = static_cast<int>(args.times);
  for_each_column<N>(args.y.cols, [&](int j) {
    const int head = j / width;
    store_pack(row_of(args.y, i) + j, load_pack<N>(row_of(args.x, i) + head / times * width + j - head * width));
  });
}

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) repeat_heads_gradient(RepeatHeadsGradientArgs<Cuda<T>> args) {
  const Index i = row_of_warp();
  if (i >= args.dy.rows) return;
  const int width = static_cast<int>(args.width), times = static_cast<int>(args.times);
  for_each_column<N>(args.dx.to.cols, [&](int j) {
    const int head = j / width;
    float sums[N] = {};
    for (int r = 0; r < times; ++r) {
      const auto part = load_pack<N>(row_of(args.dy, i) + (head * times + r) * width + j - head * width);
#pragma unroll
      for (int k = 0; k < N; ++k) sums[k] += part[k];
    }
    put(args.dx, i, j, sums);
  });
}

}  // namespace kernels

template <class T>
void repeat_heads(Cuda<T>& device, const RepeatHeadsArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.x, args.y) && args.width % Pack<T>::size == 0, [&]<int N>() {
    launch(device, "repeat_heads", warps_a_row<N>(args.y.rows, args.y.cols), kernels::repeat_heads<N, T>, args);
  });
}

template <class T>
void repeat_heads_gradient(Cuda<T>& device, const RepeatHeadsGradientArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.dy, args.dx.to) && args.width % Pack<T>::size == 0, [&]<int N>() {
    launch(device, "repeat_heads_gradient", warps_a_row<N>(args.dx.to.rows, args.dx.to.cols),
           kernels::repeat_heads_gradient<N, T>, args);
  });
}

}  // namespace attn
