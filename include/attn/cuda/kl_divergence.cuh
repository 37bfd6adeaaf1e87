#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/cuda/support/sum_parts.cuh"
#include "attn/ops/cross_entropy.hpp"

namespace attn {
namespace kernels {

/// One block per row: losses[i] = the divergence of row i.
template <int Warps, class T>
__global__ void __launch_bounds__(32 * Warps) kl_divergence(Matrix<const T> logits, Matrix<const T> target, float* losses) {
  const T *x = row_of(logits, blockIdx.x), *p = row_of(target, blockIdx.x);
  const RowExponentials found = row_exponentials<Warps>(x, static_cast<int>(logits.cols));
  const float log_sum = logf(found.sum);
  float loss = 0;
  for (int j = static_cast<int>(threadIdx.x); j < logits.cols; j += 32 * Warps) {
    const float share = to_float(p[j]);
    if (share != 0) loss += share * (logf(share) - (to_float(x[j]) - found.most - log_sum));
  }
  loss = block_sum<Warps>(loss);
  if (threadIdx.x == 0) losses[blockIdx.x] = loss;
}

template <int Warps, class T>
__global__ void __launch_bounds__(32 * Warps) kl_divergence_gradient(KlDivergenceGradientArgs<Cuda<T>> args) {
  const Index i = blockIdx.x;
  const T *x = row_of(args.logits, i), *p = row_of(args.target, i);
  const RowExponentials found = row_exponentials<Warps>(x, static_cast<int>(args.logits.cols));
  float total = 0;
  for (int j = static_cast<int>(threadIdx.x); j < args.logits.cols; j += 32 * Warps) total += to_float(p[j]);
  total = block_sum<Warps>(total);
  float scale = static_cast<float>(args.scale);
  if (args.upstream != nullptr) scale *= *args.upstream;
  for (int j = static_cast<int>(threadIdx.x); j < args.logits.cols; j += 32 * Warps) {
    const float probability = exponential<T>(to_float(x[j]) - found.most) / found.sum;
    const float gradient[] = {scale * (probability * total - to_float(p[j]))};
    put(args.dlogits, i, j, gradient);
  }
}

}  // namespace kernels

template <class T>
void kl_divergence(Cuda<T>& device, const KlDivergenceArgs<Cuda<T>>& args) {
  const Index rows = args.logits.rows;
  if (rows == 0 || args.logits.cols == 0) return;
  float* losses = device.template workspace<float>(rows);
  with_row_warps(args.logits.cols, [&]<int Warps>() {
    launch(device, "kl_divergence", {{static_cast<unsigned>(rows)}, 32 * Warps}, kernels::kl_divergence<Warps, T>,
           args.logits, args.target, losses);
  });
  sum_numbers(device, "kl_divergence", true, losses, rows, static_cast<float>(args.scale), args.y);
}

template <class T>
void kl_divergence_gradient(Cuda<T>& device, const KlDivergenceGradientArgs<Cuda<T>>& args) {
  with_row_warps(args.logits.cols, [&]<int Warps>() {
    launch(device, "kl_divergence_gradient", {{static_cast<unsigned>(args.logits.rows)}, 32 * Warps},
           kernels::kl_divergence_gradient<Warps, T>, args);
  });
}

}  // namespace attn
