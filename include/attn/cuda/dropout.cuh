#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/rows.cuh"

namespace attn {
namespace kernels {

/// y = base + dropout(x), or dropout(x) without a base.
template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps)
    add_dropped(Matrix<const T> base, Matrix<const T> x, Dropout dropout, Matrix<T> y) {
  wait_for_earlier();
  let_next_begin();
  const Index i = row_of_warp();
  if (i >= y.rows) return;
  const Dropout::Row row = dropout.row(i);
  for_each_column<N>(y.cols, [&](int j) {
    Pack<T, N> sum{};
    if (base.data != nullptr) sum = load_pack<N>(row_of(base, i) + j);
    const Pack<T, N> numbers = load_pack<N>(row_of(x, i) + j);
    const Factors<N> factors(row, j);
#pragma unroll
    for (int k = 0; k < N; ++k) sum.set(k, sum[k] + factors[k] * numbers[k]);
    store_pack(row_of(y, i) + j, sum);
  });
}

}  // namespace kernels

template <class T>
void add_dropped(Cuda<T>& device, Matrix<const T> base, Matrix<const T> x, const Dropout& dropout, Matrix<T> y) {
  with_packs<T>(in_packs(base, x, y), [&]<int N>() {
    launch_overlapping(device, "dropout", warps_a_row<N>(y.rows, y.cols), kernels::add_dropped<N, T>, base, x, dropout, y);
  });
}

template <class T>
void dropout(Cuda<T>& device, const DropoutArgs<Cuda<T>>& args) {
  add_dropped<T>(device, args.y.add ? args.y.to : Matrix<T>(), args.x, args.dropout, args.y.to);
}

}  // namespace attn
