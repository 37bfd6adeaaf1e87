#pragma once
#include <algorithm>

#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/cuda/support/sum_parts.cuh"
#include "attn/ops/optimisers.hpp"

namespace attn {
namespace kernels {

/// The factor of every gradient under clipping.
__device__ inline float clip_factor(float clip_norm, const float* squares) {
  return clip_norm > 0 ? fminf(1, clip_norm / (sqrtf(*squares) + 1e-6f)) : 1;
}

/// Whether the step is skipped because its gradients are not finite; if so, the grid's first thread counts it.
template <int N, class Args>
__device__ bool leave_out(const Args& args) {
  if (args.left_out.noted == nullptr || isfinite(*args.squares)) return false;
  float* noted = args.left_out.noted;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    if (noted[0] == 0) noted[1] = static_cast<float>(args.step);
    noted[0] += 1;
  }
  if (!args.left_out.keep_gradients)
    for_each_pack<N>(args.count, [&]<int M>(Index at) { store_pack(args.gradient + at, Pack<float, M>{}); });
  return true;
}

/// parts[b] = the sum of the squares that block b reads.
template <int N>
__global__ void __launch_bounds__(256) sums_of_squares(const float* x, Index count, float* parts) {
  float sums[N] = {};
#pragma unroll 4
  for (Index at = (Index{blockIdx.x} * 256 + threadIdx.x) * N; at + N <= count; at += Index{gridDim.x} * 256 * N) {
    const Pack<float, N> numbers = load_pack<N>(x + at);
#pragma unroll
    for (int k = 0; k < N; ++k) sums[k] += numbers[k] * numbers[k];
  }
  const Index left = count / N * N + threadIdx.x;  // the elements after the last pack
  if (blockIdx.x == 0 && left < count) sums[0] += x[left] * x[left];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < N; ++k) sum += sums[k];
  sum = block_sum<8>(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

}  // namespace kernels

template <class T>
void sum_of_squares(Cuda<T>& device, const SumOfSquaresArgs<Cuda<T>>& args) {
  const auto blocks = static_cast<unsigned>(std::min<Index>(divide_up(args.count, 1024), 1024));
  float* parts = device.template workspace<float>(1024);
  with_packs<float>(in_packs(args.x, 0, 0), [&]<int N>() {
    launch(device, "sum_of_squares", {{blocks}, 256}, kernels::sums_of_squares<N>, args.x, args.count, parts);
  });
  sum_numbers(device, "sum_of_squares", false, parts, blocks, 1, args.total);
}

}  // namespace attn
