#pragma once
#include "attn/core/error.hpp"
#include "attn/core/matrix.hpp"

// Reduces each row to one number: torch.sum, mean and max over the last dimension.
//
//   reduce_columns            y[i] = sum, mean or max over j of x[i, j]
//   reduce_columns_gradient   sum: dx[i, j] = dy[i]
//                             mean: dx[i, j] = dy[i] / cols
//                             max: dx[i, j] = dy[i] for the first j with x[i, j] = y[i], else 0
//
// The maximum of a row that contains NaN is NaN. The sum of 0 columns is 0; mean and max need at least one column.

namespace attn {

enum class Reduction { sum, mean, max };

template <class Device>
struct ReduceColumnsArgs {
  using Scalar = typename Device::Scalar;
  Reduction kind = Reduction::sum;
  Matrix<const Scalar> x;  // rows x cols
  Matrix<Scalar> y;        // rows x 1
};

template <class Device>
struct ReduceColumnsGradientArgs {
  using Scalar = typename Device::Scalar;
  Reduction kind = Reduction::sum;
  Matrix<const Scalar> x;   // rows x cols
  Matrix<const Scalar> y;   // rows x 1; read for max only
  Matrix<const Scalar> dy;  // rows x 1
  Sink<Scalar> dx;          // rows x cols
};

/// Throws an Error for the mean or maximum of 0 columns.
inline void check_reduced_columns(Reduction kind, Index cols) {
  require(kind == Reduction::sum || cols > 0, "reduce_columns: ", kind == Reduction::mean ? "mean" : "max",
          " of 0 columns; pass a matrix with at least one column");
}

}  // namespace attn
