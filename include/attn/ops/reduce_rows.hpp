#pragma once
#include "attn/core/matrix.hpp"
#include "attn/core/ragged.hpp"

// Reduces the rows of each sentence to one row: sentence pooling.
//
//   reduce_rows            y[s, c] = sum, mean, max, first or last of x[i, c] over the rows i of sentence s
//   reduce_rows_gradient   sum: dx[i, c] = dy[s, c]
//                          mean: dx[i, c] = dy[s, c] / length(s)
//                          max: dx[i, c] = dy[s, c] for the first row i of s with x[i, c] = y[s, c], else 0
//                          first, last: dx[i, c] = dy[s, c] for that row, else 0
//
// An empty sentence gives a row of 0. The maximum of a column that contains NaN is NaN. Rows of x outside all sentences
// have gradient 0.

namespace attn {

enum class RowReduction { sum, mean, max, first, last };

template <class Device>
struct ReduceRowsArgs {
  using Scalar = typename Device::Scalar;
  RowReduction kind = RowReduction::sum;
  Matrix<const Scalar> x;  // rows x cols
  Ragged rows;
  Matrix<Scalar> y;  // sentences x cols
};

template <class Device>
struct ReduceRowsGradientArgs {
  using Scalar = typename Device::Scalar;
  RowReduction kind = RowReduction::sum;
  Matrix<const Scalar> x;  // rows x cols; read for max only
  Matrix<const Scalar> y;  // sentences x cols; read for max only
  Ragged rows;
  Matrix<const Scalar> dy;  // sentences x cols
  Sink<Scalar> dx;          // rows x cols
};

}  // namespace attn
