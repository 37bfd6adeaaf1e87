#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/move_rows.hpp"

namespace attn {
namespace kernels {

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) gather_rows(GatherRowsArgs<Cuda<T>> args) {
  wait_for_earlier();
  let_next_begin();
  const Index i = row_of_warp();
  if (i >= args.to.rows) return;
  const T* from = row_of(args.from, args.row[i]);
  T* to = row_of(args.to, i);
  for_each_column<N>(args.to.cols, [&](int j) { store_pack(to + j, load_pack<N>(from + j)); });
}

/// The rows are distinct, so no two warps add to the same row.
template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) gather_rows_gradient(GatherRowsGradientArgs<Cuda<T>> args) {
  const Index i = row_of_warp();
  if (i >= args.dto.rows) return;
  const T* from = row_of(args.dto, i);
  const Index row = args.row[i];
  for (int j = lane_of_warp() * N; j < args.dto.cols; j += 32 * N) {
    const Pack<T, N> pack = load_pack<N>(from + j);
    float numbers[N];
#pragma unroll
    for (int k = 0; k < N; ++k) numbers[k] = pack[k];
    put(args.dfrom, row, j, numbers);
  }
}

}  // namespace kernels

template <class T>
void gather_rows(Cuda<T>& device, const GatherRowsArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.from, args.to), [&]<int N>() {
    launch_overlapping(device, "gather_rows", warps_a_row<N>(args.to.rows, args.to.cols), kernels::gather_rows<N, T>, args);
  });
}

template <class T>
void gather_rows_gradient(Cuda<T>& device, const GatherRowsGradientArgs<Cuda<T>>& args) {
  if (!args.dfrom.add) device.zero(args.dfrom.to);
  with_packs<T>(in_packs(args.dto, args.dfrom.to), [&]<int N>() {
    launch(device, "gather_rows_gradient", warp_a_row(args.dto.rows), kernels::gather_rows_gradient<N, T>, args);
  });
}

}  // namespace attn
