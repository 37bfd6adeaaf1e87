#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/move_rows.hpp"

namespace attn {
namespace kernels {

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) copy_rows(CopyRowsArgs<Cuda<T>> args) {
  wait_for_earlier();
  let_next_begin();
  const Index i = row_of_warp();
  if (i >= args.count) return;
  const T* from = row_of(args.rows, args.from[i]);
  T* to = row_of(args.rows, args.to[i]);
  for (int j = lane_of_warp() * N; j < args.rows.cols; j += 32 * N) store_pack(to + j, load_pack<N>(from + j));
}

}  // namespace kernels

template <class T>
void copy_rows(Cuda<T>& device, const CopyRowsArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.rows), [&]<int N>() {
    launch_overlapping(device, "copy_rows", warp_a_row(args.count), kernels::copy_rows<N, T>, args);
  });
}

}  // namespace attn
