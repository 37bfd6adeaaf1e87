#pragma once
#include <cfloat>

#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/cuda/support/sum_parts.cuh"
#include "attn/ops/cross_entropy.hpp"

namespace attn {
namespace kernels {

struct CrossEntropyFactors {
  float label, other;                    // of the smoothed label
  float scale;                           // of the gradient
  float label_gradient, other_gradient;  // scale times those two
  bool gradient;
  bool keep;  // the row in shared memory between the two passes; read again if it does not fit
};

/// One block per row. One pass finds maximum and sum together; each thread rescales its sum when its maximum grows. A
/// second pass writes the gradient. losses: rows x 2.
template <int N, class T>
__global__ void __launch_bounds__(1024, 2)
    cross_entropy(Matrix<T> logits, const Token* labels, CrossEntropyFactors by, float* losses) {
  extern __shared__ uint4 kept_row[];
  T* kept = reinterpret_cast<T*>(kept_row);
  T* row = row_of(logits, blockIdx.x);
  const int classes = static_cast<int>(logits.cols), first = static_cast<int>(threadIdx.x) * N, label = labels[blockIdx.x];
  const float at_label = to_float(row[label]);

  float most = -FLT_MAX, sum = 0, total = 0;
  const int whole = classes / N * N, rest = whole + static_cast<int>(threadIdx.x);  // after the packs: one class per thread
  const auto add = [&]<int M>(int j) {
    const Pack<T, M> x = load_pack<M>(row + j);
    if (by.keep) store_pack(kept + j, x);
    float top = x[0];
#pragma unroll
    for (int k = 1; k < M; ++k) top = fmaxf(top, x[k]);
    if (top > most) {
      sum *= exponential<T>(most - top);
      most = top;
    }
#pragma unroll
    for (int k = 0; k < M; ++k) {
      sum += exponential<T>(x[k] - most);
      total += x[k];
    }
  };
#pragma unroll 2
  for (int j = first; j < whole; j += 1024 * N) add.template operator()<N>(j);
  if (rest < classes) add.template operator()<1>(rest);
  const float peak = block_max<32>(most);
  sum = block_sum<32>(sum * exponential<T>(most - peak));
  if (by.other > 0) total = block_sum<32>(total);
  if (threadIdx.x == 0) {
    // -sum of q log p = lse * sum of q - sum of q * logit, and the q sum to 1
    const float lse = peak + logf(sum);
    losses[2 * Index{blockIdx.x}] = lse - at_label;
    losses[2 * Index{blockIdx.x} + 1] = lse - (by.label - by.other) * at_label - (by.other > 0 ? by.other * total : 0);
  }
  if (!by.gradient) return;

  const float grow = by.scale / sum;
  const auto grade = [&]<int M>(int j) {  // a thread reads only the classes that it kept itself
    Pack<T, M> x;
    if (by.keep)
      x = load_pack<M>(kept + j);
    else
      x = load_pack<M>(row + j);
#pragma unroll
    for (int k = 0; k < M; ++k) x.set(k, exponential<T>(x[k] - peak) * grow - by.other_gradient);
    if (label >= j && label < j + M) {
#pragma unroll
      for (int k = 0; k < M; ++k)
        if (j + k == label) x.set(k, exponential<T>(at_label - peak) * grow - by.label_gradient);
    }
    store_pack(row + j, x);
  };
  for (int j = first; j < whole; j += 1024 * N) grade.template operator()<N>(j);
  if (rest < classes) grade.template operator()<1>(rest);
}

/// One block per row.
template <int Warps, class T>
__global__ void __launch_bounds__(32 * Warps)
    cross_entropy_gradient(Matrix<const T> logits, const Token* labels, float label_share, float other_share, float scale,
                           const float* upstream, Sink<T> dlogits) {
  const Index i = blockIdx.x;
  const T* row = row_of(logits, i);
  const int label = labels[i];
  const RowExponentials found = row_exponentials<Warps>(row, static_cast<int>(logits.cols));
  if (upstream != nullptr) scale *= *upstream;
  for (int j = static_cast<int>(threadIdx.x); j < logits.cols; j += 32 * Warps) {
    const float p = exponential<T>(to_float(row[j]) - found.most) / found.sum;
    const float gradient[] = {scale * (p - (j == label ? label_share : other_share))};
    put(dlogits, i, j, gradient);
  }
}

}  // namespace kernels

template <class T>
void cross_entropy(Cuda<T>& device, const CrossEntropyArgs<Cuda<T>>& args) {
  if (args.logits.rows == 0) return;
  const SmoothedLabel q(args.smoothing, args.amount, args.logits.cols);
  const std::size_t bytes = static_cast<std::size_t>(args.logits.cols) * sizeof(T);
  const std::size_t room = device.properties().sharedMemPerMultiprocessor / 2 - 2048;  // two resident blocks
  const kernels::CrossEntropyFactors by{.label = static_cast<float>(q.label),
                                        .other = static_cast<float>(q.other),
                                        .scale = static_cast<float>(args.scale),
                                        .label_gradient = static_cast<float>(args.scale * q.label),
                                        .other_gradient = static_cast<float>(args.scale * q.other),
                                        .gradient = args.gradient,
                                        .keep = args.gradient && bytes <= room};
  float* losses = device.template workspace<float>(2 * args.logits.rows);
  with_packs<T>(in_packs(args.logits.data, Pack<T>::size, args.logits.stride), [&]<int N>() {
    launch(device, "cross_entropy", {{static_cast<unsigned>(args.logits.rows)}, 1024, by.keep ? bytes : 0},
           kernels::cross_entropy<N, T>, args.logits, args.labels, by, losses);
  });
  sum_numbers(device, "cross_entropy", true, losses, args.logits.rows, 1, args.nll, args.loss);
}

template <class T>
void cross_entropy_gradient(Cuda<T>& device, const CrossEntropyGradientArgs<Cuda<T>>& args) {
  const SmoothedLabel q(args.smoothing, args.amount, args.logits.cols);
  with_row_warps(args.logits.cols, [&]<int Warps>() {
    launch(device, "cross_entropy_gradient", {{static_cast<unsigned>(args.logits.rows)}, 32 * Warps},
           kernels::cross_entropy_gradient<Warps, T>, args.logits, args.labels, static_cast<float>(q.label),
           static_cast<float>(q.other), static_cast<float>(args.scale), args.upstream, args.dlogits);
  });
}

}  // namespace attn
