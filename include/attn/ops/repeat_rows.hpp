#pragma once
#include "attn/core/matrix.hpp"
#include "attn/core/ragged.hpp"

// Broadcasts one row per sentence to all rows of the sentence.
//
//   repeat_rows            y[i, c] = x[s, c] for each row i of sentence s; 0 for rows outside all sentences
//   repeat_rows_gradient   dx[s, c] = sum over the rows i of s of dy[i, c]

namespace attn {

template <class Device>
struct RepeatRowsArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> x;  // sentences x cols
  Ragged rows;
  Matrix<Scalar> y;  // rows x cols
};

template <class Device>
struct RepeatRowsGradientArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> dy;  // rows x cols
  Ragged rows;
  Sink<Scalar> dx;  // sentences x cols
};

}  // namespace attn
