#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/move_rows.hpp"

namespace attn {
namespace kernels {

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) scatter_rows(ScatterRowsArgs<Cuda<T>> args) {
  wait_for_earlier();
  let_next_begin();
  const Index i = row_of_warp();
  if (i >= args.from.rows) return;
  const T* from = row_of(args.from, i);
  T* to = row_of(args.to, args.row[i]);
  for_each_column<N>(args.from.cols, [&](int j) { store_pack(to + j, load_pack<N>(from + j)); });
}

}  // namespace kernels

template <class T>
void run_scatter_rows(Cuda<T>& device, const ScatterRowsArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.from, args.to), [&]<int N>() {
    launch_overlapping(device, "scatter_rows", warps_a_row<N>(args.from.rows, args.from.cols), kernels::scatter_rows<N, T>,
                       args);
  });
}

/// Rows appended to a KV cache are held back for the attention that reads them (attention/step.cuh), which saves a kernel.
template <class T>
void scatter_rows(Cuda<T>& device, const ScatterRowsArgs<Cuda<T>>& args) {
  if (args.appends) return device.defer(args, run_scatter_rows<T>);
  run_scatter_rows(device, args);
}

}  // namespace attn
