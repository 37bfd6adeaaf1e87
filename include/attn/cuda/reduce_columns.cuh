#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/reductions.hpp"

namespace attn {
namespace kernels {

/// The maximum of two numbers; NaN if one of them is.
__device__ inline float larger(float a, float b) { return a > b || isnan(a) ? a : b; }

/// Whether a number is the maximum that `larger` found.
__device__ inline bool is_largest(float x, float most) { return x == most || (isnan(x) && isnan(most)); }

/// One block per row.
template <int Warps, class T>
__global__ void __launch_bounds__(32 * Warps) reduce_columns(ReduceColumnsArgs<Cuda<T>> args) {
  const T* x = row_of(args.x, blockIdx.x);
  const bool max = args.kind == Reduction::max;
  float found = max ? -INFINITY : 0;
  for (int j = static_cast<int>(threadIdx.x); j < args.x.cols; j += 32 * Warps)
    found = max ? larger(to_float(x[j]), found) : found + to_float(x[j]);
  if (max) {
    __shared__ float parts[Warps];
#pragma unroll
    for (int other = 16; other > 0; other /= 2) found = larger(__shfl_xor_sync(0xffffffffU, found, other), found);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = found;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Warps; ++i) found = larger(parts[i], found);
  } else {
    found = block_sum<Warps>(found);
    if (args.kind == Reduction::mean) found /= static_cast<float>(args.x.cols);
  }
  if (threadIdx.x == 0) *row_of(args.y, blockIdx.x) = from_float<T>(found);
}

template <int Warps, class T>
__global__ void __launch_bounds__(32 * Warps) reduce_columns_gradient(ReduceColumnsGradientArgs<Cuda<T>> args) {
  const Index i = blockIdx.x;
  const int cols = static_cast<int>(args.dx.to.cols);
  const float dy = to_float(*row_of(args.dy, i));
  unsigned place = 0xffffffffU;  // of the first maximum
  if (args.kind == Reduction::max) {
    const T* x = row_of(args.x, i);
    const float most = to_float(*row_of(args.y, i));
    for (int j = static_cast<int>(threadIdx.x); j < cols; j += 32 * Warps)
      if (is_largest(to_float(x[j]), most)) {
        place = static_cast<unsigned>(j);
        break;
      }
    __shared__ unsigned places[Warps];
    place = __reduce_min_sync(0xffffffffU, place);
    if (threadIdx.x % 32 == 0) places[threadIdx.x / 32] = place;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Warps; ++k) place = min(place, places[k]);
  }
  const float each = args.kind == Reduction::mean ? dy / static_cast<float>(cols) : dy;
  for (int j = static_cast<int>(threadIdx.x); j < cols; j += 32 * Warps) {
    const float dx[] = {args.kind != Reduction::max || place == static_cast<unsigned>(j) ? each : 0};
    put(args.dx, i, j, dx);
  }
}

}  // namespace kernels

template <class T>
void reduce_columns(Cuda<T>& device, const ReduceColumnsArgs<Cuda<T>>& args) {
  check_reduced_columns(args.kind, args.x.cols);
  with_row_warps(args.x.cols, [&]<int Warps>() {
    launch(device, "reduce_columns", {{static_cast<unsigned>(args.x.rows)}, 32 * Warps}, kernels::reduce_columns<Warps, T>,
           args);
  });
}

template <class T>
void reduce_columns_gradient(Cuda<T>& device, const ReduceColumnsGradientArgs<Cuda<T>>& args) {
  const Index cols = args.dx.to.cols;
  check_reduced_columns(args.kind, cols);
  with_row_warps(cols, [&]<int Warps>() {
    launch(device, "reduce_columns_gradient", {{static_cast<unsigned>(args.dx.to.rows)}, 32 * Warps},
           kernels::reduce_columns_gradient<Warps, T>, args);
  });
}

}  // namespace attn
