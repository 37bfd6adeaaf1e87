#pragma once
#include <cfloat>

#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/cuda/support/sum_parts.cuh"
#include "attn/ops/cross_entropy.hpp"
#include "attn/ops/operands.hpp"
#include "attn/ops/reductions.hpp"

// Softmax and the losses of its probabilities. One block per row.

namespace attn {
namespace kernels {

/// A block's row and the number of its leading columns that are visible; -1 for a block without a row.
struct SeenRow {
  Index row;
  int seen;

  __device__ SeenRow(const RaggedMask& mask, Index cols) : row(blockIdx.x), seen(static_cast<int>(cols)) {
    if (mask.keys.begin == nullptr) return;
    const Index s = row / mask.queries.longest;
    const int i = static_cast<int>(row % mask.queries.longest);
    const int first = mask.queries.begin[s], queries = mask.queries.end[s] - first;
    const int keys = mask.keys.end[s] - mask.keys.begin[s];
    row = first + i;
    seen = i >= queries ? -1 : mask.causal ? min(max(keys - queries + i + 1, 0), keys) : keys;
  }
};

template <int Warps, class T>
__global__ void __launch_bounds__(32 * Warps) softmax(SoftmaxArgs<Cuda<T>> args) {
  const SeenRow at(args.mask, args.x.cols);
  if (at.seen < 0) return;
  const T* x = row_of(args.x, at.row);
  T* y = row_of(args.y, at.row);
  const RowExponentials found = row_exponentials<Warps>(x, at.seen);
  const int seen = found.sum == 0 ? 0 : at.seen;
  const float log_sum = logf(found.sum);
  for (int j = static_cast<int>(threadIdx.x); j < args.y.cols; j += 32 * Warps) {
    float value = 0;
    if (j < seen) {
      const float below = to_float(x[j]) - found.most;
      value = args.log ? below - log_sum : exponential<T>(below) / found.sum;
    }
    y[j] = from_float<T>(value);
  }
}

template <int Warps, class T>
__global__ void __launch_bounds__(32 * Warps) softmax_gradient(SoftmaxGradientArgs<Cuda<T>> args) {
  const SeenRow at(args.mask, args.y.cols);
  if (at.seen < 0) return;
  const T *y = row_of(args.y, at.row), *dy = row_of(args.dy, at.row);
  float sum = 0;
  for (int j = static_cast<int>(threadIdx.x); j < at.seen; j += 32 * Warps)
    sum += (args.log ? 1 : to_float(y[j])) * to_float(dy[j]);
  sum = block_sum<Warps>(sum);
  const int cols = args.dx.add ? at.seen : static_cast<int>(args.dx.to.cols);
  for (int j = static_cast<int>(threadIdx.x); j < cols; j += 32 * Warps) {
    float dx[] = {0};
    if (j < at.seen) {
      const float value = to_float(y[j]), gradient = to_float(dy[j]);
      dx[0] = args.log ? gradient - exponential<T>(value) * sum : value * (gradient - sum);
    }
    put(args.dx, at.row, j, dx);
  }
}

struct CrossEntropyFactors {
  float label, other;                    // of the smoothed label
  float scale;                           // of the gradient
  float label_gradient, other_gradient;  // scale times those two
  bool keep;                             // the row in shared memory between the two passes; read again if it does not fit
};

/// One pass finds maximum and sum together; each thread rescales its sum when its maximum grows. A
/// second pass writes the gradient. losses: rows x 2.
template <int N, class T>
__global__ void __launch_bounds__(1024, 2)
    cross_entropy(Matrix<const T> logits, const Token* labels, CrossEntropyFactors by, float* losses, Sink<T> dlogits) {
  extern __shared__ uint4 kept_row[];
  T* kept = reinterpret_cast<T*>(kept_row);
  const T* row = row_of(logits, blockIdx.x);
  const int classes = static_cast<int>(logits.cols), first = static_cast<int>(threadIdx.x) * N, label = labels[blockIdx.x];
  const float at_label = to_float(row[label]);

  float most = -FLT_MAX, sum = 0, total = 0;
  const int whole = classes / N * N, rest = whole + static_cast<int>(threadIdx.x);  // after the packs: one class per thread
  const auto add = [&]<int M>(int j) {
    const Pack<T, M> x = load_pack<M>(row + j);
    if (by.keep) store_pack(kept + j, x);
    float top = x[0];
    for (int k = 1; k < M; ++k) top = fmaxf(top, x[k]);
    if (top > most) {
      sum *= exponential<T>(most - top);
      most = top;
    }
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
  if (dlogits.to.data == nullptr) return;

  const float grow = by.scale / sum;
  const auto grade = [&]<int M>(int j) {  // a thread reads only the classes that it kept itself
    Pack<T, M> x;
    if (by.keep)
      x = load_pack<M>(kept + j);
    else
      x = load_pack<M>(row + j);
    float gradient[M];
    for (int k = 0; k < M; ++k) gradient[k] = exponential<T>(x[k] - peak) * grow - by.other_gradient;
    if (label >= j && label < j + M) {
      for (int k = 0; k < M; ++k)
        if (j + k == label) gradient[k] = exponential<T>(at_label - peak) * grow - by.label_gradient;
    }
    put(dlogits, blockIdx.x, j, gradient);
  };
  for (int j = first; j < whole; j += 1024 * N) grade.template operator()<N>(j);
  if (rest < classes) grade.template operator()<1>(rest);
}

/// losses[i] = the divergence of row i.
template <int Warps, class T>
__global__ void __launch_bounds__(32 * Warps)
    kl_divergence(Matrix<const T> logits, Matrix<const T> target, float* losses, float scale, Sink<T> dlogits) {
  const T *x = row_of(logits, blockIdx.x), *p = row_of(target, blockIdx.x);
  const RowExponentials found = row_exponentials<Warps>(x, static_cast<int>(logits.cols));
  const float log_sum = logf(found.sum);
  float loss = 0, total = 0;
  for (int j = static_cast<int>(threadIdx.x); j < logits.cols; j += 32 * Warps) {
    const float share = to_float(p[j]);
    total += share;
    if (share != 0) loss += share * (logf(share) - (to_float(x[j]) - found.most - log_sum));
  }
  loss = block_sum<Warps>(loss);
  if (threadIdx.x == 0) losses[blockIdx.x] = loss;
  if (dlogits.to.data == nullptr) return;
  total = block_sum<Warps>(total);
  for (int j = static_cast<int>(threadIdx.x); j < logits.cols; j += 32 * Warps) {
    const float probability = exponential<T>(to_float(x[j]) - found.most) / found.sum;
    const float gradient[] = {scale * (probability * total - to_float(p[j]))};
    put(dlogits, blockIdx.x, j, gradient);
  }
}

}  // namespace kernels

/// Number of blocks: one per row. With a mask, every sentence gets as many as the longest.
inline Index softmax_blocks(const RaggedMask& mask, Index rows) {
  return mask.active() ? mask.queries.count * mask.queries.longest : rows;
}

template <class T>
void softmax(Cuda<T>& device, const SoftmaxArgs<Cuda<T>>& args) {
  check_mask("softmax", args.mask, args.x.cols);
  if (args.mask.active()) zero_outside(device, args.mask.queries, Sink<T>{args.y});
  launch_row_blocks(device, "softmax", softmax_blocks(args.mask, args.x.rows), args.x.cols, kernels::softmax<1, T>,
                    kernels::softmax<8, T>, args);
}

template <class T>
void softmax_gradient(Cuda<T>& device, const SoftmaxGradientArgs<Cuda<T>>& args) {
  check_mask("softmax_gradient", args.mask, args.y.cols);
  if (args.mask.active()) zero_outside(device, args.mask.queries, args.dx);
  launch_row_blocks(device, "softmax_gradient", softmax_blocks(args.mask, args.y.rows), args.y.cols,
                    kernels::softmax_gradient<1, T>, kernels::softmax_gradient<8, T>, args);
}

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
                                        .keep = !args.dlogits.to.empty() && bytes <= room};
  float* losses = device.template workspace<float>(2 * args.logits.rows);
  const auto packs = [](const auto& m) { return in_packs(m.data, Pack<T>::size, m.stride); };
  with_packs<T>(packs(args.logits) && packs(args.dlogits.to), [&]<int N>() {
    launch(device, "cross_entropy", {{static_cast<unsigned>(args.logits.rows)}, 1024, by.keep ? bytes : 0},
           kernels::cross_entropy<N, T>, args.logits, args.labels, by, losses, args.dlogits);
  });
  sum_numbers(device, "cross_entropy", true, losses, args.logits.rows, 1, args.nll, args.loss);
}

template <class T>
void kl_divergence(Cuda<T>& device, const KlDivergenceArgs<Cuda<T>>& args) {
  const Index rows = args.logits.rows;
  if (rows == 0 || args.logits.cols == 0) return;
  float* losses = device.template workspace<float>(rows);
  launch_row_blocks(device, "kl_divergence", rows, args.logits.cols, kernels::kl_divergence<1, T>,
                    kernels::kl_divergence<8, T>, args.logits, args.target, losses, static_cast<float>(args.gradient_scale),
                    args.dlogits);
  sum_numbers(device, "kl_divergence", true, losses, rows, static_cast<float>(args.scale), args.y);
}

}  // namespace attn
