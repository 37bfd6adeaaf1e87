#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/tanh.hpp"

namespace attn {
namespace kernels {

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) tanh_rows(TanhArgs<Cuda<T>> args) {
  wait_for_earlier();
  let_next_begin();
  const Index i = row_of_warp();
  if (i >= args.y.rows) return;
  for_each_column<N>(args.y.cols, [&](int j) {
    Pack<T, N> pack = load_pack<N>(row_of(args.x, i) + j);
#pragma unroll
    for (int k = 0; k < N; ++k) pack.set(k, tanhf(pack[k]));
    store_pack(row_of(args.y, i) + j, pack);
  });
}

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) tanh_rows_gradient(TanhGradientArgs<Cuda<T>> args) {
  const Index i = row_of_warp();
  if (i >= args.y.rows) return;
  for (int j = lane_of_warp() * N; j < args.y.cols; j += 32 * N) {
    const Pack<T, N> dy = load_pack<N>(row_of(args.dy, i) + j), y = load_pack<N>(row_of(args.y, i) + j);
    float dx[N];
#pragma unroll
    for (int k = 0; k < N; ++k) dx[k] = dy[k] * (1 - y[k] * y[k]);
    put(args.dx, i, j, dx);
  }
}

}  // namespace kernels

template <class T>
void tanh_rows(Cuda<T>& device, const TanhArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.x, args.y), [&]<int N>() {
    launch_overlapping(device, "tanh", warps_a_row<N>(args.y.rows, args.y.cols), kernels::tanh_rows<N, T>, args);
  });
}

template <class T>
void tanh_rows_gradient(Cuda<T>& device, const TanhGradientArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.dy, args.y, args.dx.to), [&]<int N>() {
    launch(device, "tanh's gradient", warp_a_row(args.y.rows), kernels::tanh_rows_gradient<N, T>, args);
  });
}

}  // namespace attn
