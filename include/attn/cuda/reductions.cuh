#pragma once
#include <climits>

#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/cuda/support/sum_parts.cuh"
#include "attn/ops/operands.hpp"
#include "attn/ops/reductions.hpp"

// Sums, means and maxima.

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

/// The maximum of two numbers; NaN if one of them is.
__device__ inline float larger(float a, float b) { return a > b || isnan(a) ? a : b; }

/// Whether a number is the maximum that `larger` found.
__device__ inline bool is_largest(float x, float most) { return x == most || (isnan(x) && isnan(most)); }

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

/// A block of 8 warps reduces 32 columns of a sentence, one per lane. Each warp takes every 8th row.
struct SentenceColumn {
  Index sentence, begin, end;
  int column, warp, lane;

  __device__ SentenceColumn(const Ragged& rows, int col_tiles)
      : sentence(blockIdx.x / static_cast<unsigned>(col_tiles)),
        begin(rows.begin[sentence]),
        end(rows.end[sentence]),
        warp(static_cast<int>(threadIdx.x) / 32),
        lane(static_cast<int>(threadIdx.x) % 32) {
    column = static_cast<int>(blockIdx.x % static_cast<unsigned>(col_tiles)) * 32 + lane;
  }
};

template <class T>
__global__ void __launch_bounds__(32 * kRowWarps)
    reduce_rows(RowReduction kind, Matrix<const T> x, Ragged rows, Sink<T> y, int col_tiles) {
  const SentenceColumn at(rows, col_tiles);
  const bool inside = at.column < x.cols, max = kind == RowReduction::max;
  float found = max ? -INFINITY : 0;
  if (kind == RowReduction::first || kind == RowReduction::last) {
    const Index row = kind == RowReduction::first ? at.begin : at.end - 1;
    if (inside && at.warp == 0 && at.begin < at.end) found = to_float(row_of(x, row)[at.column]);
  } else {
    for (Index i = at.begin + at.warp; inside && i < at.end; i += kRowWarps) {
      const float number = to_float(row_of(x, i)[at.column]);
      found = max ? larger(number, found) : found + number;
    }
    __shared__ float parts[kRowWarps][32];
    parts[at.warp][at.lane] = found;
    __syncthreads();
#pragma unroll
    for (int k = 1; k < kRowWarps; ++k) {  // only warp 0 uses the result, and its part is in `found`
      const float part = parts[k][at.lane];
      found = max ? larger(part, found) : found + part;
    }
    if (at.begin == at.end) found = 0;
    if (kind == RowReduction::mean && at.begin < at.end) found /= static_cast<float>(at.end - at.begin);
  }
  const float result[] = {found};
  if (inside && at.warp == 0) put(y, at.sentence, at.column, result);
}

/// x and y are read for max only.
template <class T>
__global__ void __launch_bounds__(32 * kRowWarps)
    reduce_rows_gradient(RowReduction kind, Matrix<const T> x, Matrix<const T> y, Ragged rows, Matrix<const T> dy,
                         Sink<T> dx, int col_tiles) {
  const SentenceColumn at(rows, col_tiles);
  const bool inside = at.column < dy.cols;
  int chosen = kind == RowReduction::last ? static_cast<int>(at.end - 1) : static_cast<int>(at.begin);
  if (kind == RowReduction::max) {
    chosen = INT_MAX;
    const float most = inside ? to_float(row_of(y, at.sentence)[at.column]) : 0;
    for (Index i = at.begin + at.warp; inside && i < at.end; i += kRowWarps)
      if (is_largest(to_float(row_of(x, i)[at.column]), most)) {
        chosen = static_cast<int>(i);
        break;
      }
    __shared__ int places[kRowWarps][32];
    places[at.warp][at.lane] = chosen;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kRowWarps; ++k) chosen = min(chosen, places[k][at.lane]);
  }
  if (!inside) return;
  const bool all = kind == RowReduction::sum || kind == RowReduction::mean;
  float each = to_float(row_of(dy, at.sentence)[at.column]);
  if (kind == RowReduction::mean) each /= static_cast<float>(at.end - at.begin);  // an empty sentence has no row to write
  for (Index i = at.begin + at.warp; i < at.end; i += kRowWarps) {
    const float gradient[] = {all || i == chosen ? each : 0};
    put(dx, i, at.column, gradient);
  }
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

template <class T>
void reduce_columns(Cuda<T>& device, const ReduceColumnsArgs<Cuda<T>>& args) {
  check_reduced_columns(args.kind, args.x.cols);
  launch_row_blocks(device, "reduce_columns", args.x.rows, args.x.cols, kernels::reduce_columns<1, T>,
                    kernels::reduce_columns<8, T>, args);
}

template <class T>
void reduce_columns_gradient(Cuda<T>& device, const ReduceColumnsGradientArgs<Cuda<T>>& args) {
  const Index cols = args.dx.to.cols;
  check_reduced_columns(args.kind, cols);
  launch_row_blocks(device, "reduce_columns_gradient", args.dx.to.rows, cols, kernels::reduce_columns_gradient<1, T>,
                    kernels::reduce_columns_gradient<8, T>, args);
}

/// Launches one block for every 32 columns of each sentence; the kernel's last argument is their number.
template <class T, class... Parameters, class... Arguments>
void launch_sentence_columns(Cuda<T>& device, const char* what, const Ragged& rows, Index cols,
                             void (*kernel)(Parameters...), const Arguments&... arguments) {
  refuse_lists(what, rows);
  const auto col_tiles = static_cast<int>(divide_up(cols, 32));
  launch(device, what, {{static_cast<unsigned>(rows.count * col_tiles)}, 32 * kRowWarps}, kernel, arguments..., col_tiles);
}

template <class T>
void reduce_rows(Cuda<T>& device, const ReduceRowsArgs<Cuda<T>>& args) {
  launch_sentence_columns(device, "reduce_rows", args.rows, args.x.cols, kernels::reduce_rows<T>, args.kind, args.x,
                          args.rows, args.y);
}

template <class T>
void reduce_rows_gradient(Cuda<T>& device, const ReduceRowsGradientArgs<Cuda<T>>& args) {
  refuse_lists("reduce_rows_gradient", args.rows);  // before anything is written
  zero_outside(device, args.rows, args.dx);
  launch_sentence_columns(device, "reduce_rows_gradient", args.rows, args.dy.cols, kernels::reduce_rows_gradient<T>,
                          args.kind, args.x, args.y, args.rows, args.dy, args.dx);
}

}  // namespace attn
