#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/reductions.hpp"

namespace attn {
namespace kernels {

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) fill_rows(FillArgs<Cuda<T>> args) {
  const Index i = row_of_warp();
  if (i >= args.y.to.rows) return;
  const auto value = static_cast<float>(args.value);
  float values[N];
#pragma unroll
  for (int k = 0; k < N; ++k) values[k] = value;
  for_each_column<N>(args.y.to.cols, [&](int j) { put(args.y, i, j, values); });
}

}  // namespace kernels

template <class T>
void fill(Cuda<T>& device, const FillArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.y.to), [&]<int N>() {
    launch(device, "fill", warps_a_row<N>(args.y.to.rows, args.y.to.cols), kernels::fill_rows<N, T>, args);
  });
}

}  // namespace attn
