#pragma once
#include <climits>

#include "attn/cuda/device.cuh"
#include "attn/cuda/reduce_columns.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/operands.hpp"
#include "attn/ops/reductions.hpp"

namespace attn {
namespace kernels {

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

/// One block for every 32 columns of each sentence.
inline Spread sentence_columns(const Ragged& rows, int col_tiles) {
  return {{static_cast<unsigned>(rows.count * col_tiles)}, 32 * kRowWarps};
}

template <class T>
void reduce_rows_into(Cuda<T>& device, const char* what, RowReduction kind, Matrix<const T> x, const Ragged& rows,
                      const Sink<T>& y) {
  refuse_lists(what, rows);
  const auto col_tiles = static_cast<int>(divide_up(x.cols, 32));
  launch(device, what, sentence_columns(rows, col_tiles), kernels::reduce_rows<T>, kind, x, rows, y, col_tiles);
}

template <class T>
void reduce_rows(Cuda<T>& device, const ReduceRowsArgs<Cuda<T>>& args) {
  reduce_rows_into(device, "reduce_rows", args.kind, args.x, args.rows, Sink<T>{args.y});
}

template <class T>
void spread_to_rows(Cuda<T>& device, const char* what, const ReduceRowsGradientArgs<Cuda<T>>& args) {
  refuse_lists(what, args.rows);
  zero_outside(device, args.rows, args.dx);
  const auto col_tiles = static_cast<int>(divide_up(args.dy.cols, 32));
  launch(device, what, sentence_columns(args.rows, col_tiles), kernels::reduce_rows_gradient<T>, args.kind, args.x, args.y,
         args.rows, args.dy, args.dx, col_tiles);
}

template <class T>
void reduce_rows_gradient(Cuda<T>& device, const ReduceRowsGradientArgs<Cuda<T>>& args) {
  spread_to_rows(device, "reduce_rows_gradient", args);
}

}  // namespace attn
