#pragma once
#include <algorithm>

#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/cuda/support/sum_parts.cuh"
#include "attn/ops/reductions.hpp"

namespace attn {
namespace kernels {

/// parts[b] = the sum of the elements that block b reads.
template <class T>
__global__ void __launch_bounds__(256) sums_of_elements(Matrix<const T> x, float* parts) {
  float sum = 0;
  for (Index at = Index{blockIdx.x} * 256 + threadIdx.x; at < x.rows * x.cols; at += Index{gridDim.x} * 256)
    sum += to_float(row_of(x, at / x.cols)[at % x.cols]);
  sum = block_sum<8>(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

}  // namespace kernels

template <class T>
void reduce_all(Cuda<T>& device, const ReduceAllArgs<Cuda<T>>& args) {
  const Index blocks = std::min<Index>(divide_up(args.x.rows * args.x.cols, 1024), 1024);
  if (blocks == 0) return;
  float* parts = device.template workspace<float>(blocks);
  launch(device, "reduce_all", {{static_cast<unsigned>(blocks)}, 256}, kernels::sums_of_elements<T>, args.x, parts);
  sum_numbers(device, "reduce_all", true, parts, blocks, static_cast<float>(args.scale), args.y);
}

}  // namespace attn
