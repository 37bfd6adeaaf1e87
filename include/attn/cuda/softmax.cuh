#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/operands.hpp"
#include "attn/ops/reductions.hpp"

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

}  // namespace kernels

/// Number of blocks: one per row. With a mask, every sentence gets as many as the longest.
inline unsigned softmax_blocks(const RaggedMask& mask, Index rows) {
  return static_cast<unsigned>(mask.active() ? mask.queries.count * mask.queries.longest : rows);
}

template <class T>
void softmax(Cuda<T>& device, const SoftmaxArgs<Cuda<T>>& args) {
  check_mask("softmax", args.mask, args.x.cols);
  if (args.mask.active()) zero_outside(device, args.mask.queries, Sink<T>{args.y});
  with_row_warps(args.x.cols, [&]<int Warps>() {
    launch(device, "softmax", {{softmax_blocks(args.mask, args.x.rows)}, 32 * Warps}, kernels::softmax<Warps, T>, args);
  });
}

template <class T>
void softmax_gradient(Cuda<T>& device, const SoftmaxGradientArgs<Cuda<T>>& args) {
  check_mask("softmax_gradient", args.mask, args.y.cols);
  if (args.mask.active()) zero_outside(device, args.mask.queries, args.dx);
  with_row_warps(args.y.cols, [&]<int Warps>() {
    launch(device, "softmax_gradient", {{softmax_blocks(args.mask, args.y.rows)}, 32 * Warps},
           kernels::softmax_gradient<Warps, T>, args);
  });
}

}  // namespace attn
