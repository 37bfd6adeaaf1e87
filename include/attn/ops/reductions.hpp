#pragma once
#include "attn/ops/operands.hpp"

// reduce_all   y[0] += scale * sum of all elements of x, in a fixed order
//
// Its gradient is fill.

namespace attn {

template <class Device>
struct ReduceAllArgs {
  InputOf<Device> x;
  typename Device::Real* y;  // 1, accumulates
  double scale = 1;
};

// fill   sets every element of y to a number or adds the number; the gradient of reduce_all

template <class Device>
struct FillArgs {
  double value;
  SinkOf<Device> y;
};

// Reduces each row to one number: torch.sum, mean and max over the last dimension.
//
//   reduce_columns            y[i] = sum, mean or max over j of x[i, j]
//   reduce_columns_gradient   sum: dx[i, j] = dy[i]
//                             mean: dx[i, j] = dy[i] / cols
//                             max: dx[i, j] = dy[i] for the first j with x[i, j] = y[i], else 0
//
// The maximum of a row that contains NaN is NaN. The sum of 0 columns is 0; mean and max need at least one column.

enum class Reduction { sum, mean, max };

template <class Device>
struct ReduceColumnsArgs {
  Reduction kind = Reduction::sum;
  InputOf<Device> x;   // rows x cols
  OutputOf<Device> y;  // rows x 1
};

template <class Device>
struct ReduceColumnsGradientArgs {
  Reduction kind = Reduction::sum;
  InputOf<Device> x;   // rows x cols
  InputOf<Device> y;   // rows x 1; read for max only
  InputOf<Device> dy;  // rows x 1
  SinkOf<Device> dx;   // rows x cols
};

/// Throws an Error for the mean or maximum of 0 columns.
inline void check_reduced_columns(Reduction kind, Index cols) {
  require(kind == Reduction::sum || cols > 0, "reduce_columns: ", kind == Reduction::mean ? "mean" : "max",
          " of 0 columns; pass a matrix with at least one column");
}

// Reduces the rows of each sentence to one row: sentence pooling.
//
//   reduce_rows            y[s, c] = sum, mean, max, first or last of x[i, c] over the rows i of sentence s; the sum may add
//   reduce_rows_gradient   sum: dx[i, c] = dy[s, c]
//                          mean: dx[i, c] = dy[s, c] / length(s)
//                          max: dx[i, c] = dy[s, c] for the first row i of s with x[i, c] = y[s, c], else 0
//                          first, last: dx[i, c] = dy[s, c] for that row, else 0
//
// An empty sentence gives a row of 0. The maximum of a column that contains NaN is NaN. Rows of x outside all sentences
// have gradient 0. Repeating one row per sentence for all its rows is the gradient of the sum, and has the sum as gradient.

enum class RowReduction { sum, mean, max, first, last };

template <class Device>
struct ReduceRowsArgs {
  RowReduction kind = RowReduction::sum;
  InputOf<Device> x;  // rows x cols
  Ragged rows;
  SinkOf<Device> y;  // sentences x cols; adds for a sum only
};

template <class Device>
struct ReduceRowsGradientArgs {
  RowReduction kind = RowReduction::sum;
  InputOf<Device> x = {};  // rows x cols; read for max only
  InputOf<Device> y = {};  // sentences x cols; read for max only
  Ragged rows;
  InputOf<Device> dy;  // sentences x cols
  SinkOf<Device> dx;   // rows x cols
};

// Softmax or log-softmax of each row.
//
//   softmax            y = exp(x) / sum(exp(x)),   or with log: y = x - log(sum(exp(x)))
//   softmax_gradient   dx = y * (dy - sum(y * dy)),   or with log: dx = dy - exp(y) * sum(dy)
//
// With a mask, row i sees only its first columns. Masked columns are 0 in y and dx, even with log, and are never read. A
// row that sees no column, or only -inf, is 0. torch.nn.functional.softmax and log_softmax.

/// The visible columns of each row of a score matrix. Row i of sentence s of `queries`, which has n rows, sees the first m
/// columns, m = keys.length(s). With `causal` it sees the first m - n + i + 1, as in ops/attention.hpp. A row outside all
/// sentences sees none. Without keys there is no mask.
struct RaggedMask {
  Ragged queries, keys;
  bool causal = false;

  constexpr bool active() const { return keys.begin != nullptr; }
};

/// Throws an Error if a mask does not fit a matrix of `cols` columns.
inline void check_mask(const char* op, const RaggedMask& mask, Index cols) {
  if (!mask.active()) return;
  refuse_lists(op, mask.queries);
  refuse_lists(op, mask.keys);
  require(mask.queries.count == mask.keys.count, op, ": the mask has ", mask.queries.count, " sentences of queries and ",
          mask.keys.count, " of keys; pass the same sentences for both");
  require(mask.keys.longest <= cols, op, ": a sentence has ", mask.keys.longest, " keys, but the matrix has ", cols,
          " columns; use at least as many columns as the longest sentence has keys");
}

/// x and y must not overlap.
template <class Device>
struct SoftmaxArgs {
  InputOf<Device> x;   // rows x cols
  OutputOf<Device> y;  // rows x cols
  bool log = false;
  RaggedMask mask = {};
};

template <class Device>
struct SoftmaxGradientArgs {
  InputOf<Device> y, dy;  // rows x cols
  SinkOf<Device> dx;      // rows x cols
  bool log = false;
  RaggedMask mask = {};
};

}  // namespace attn
