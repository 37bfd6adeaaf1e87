#pragma once
#include "attn/core/tuple.hpp"
#include "attn/ops/dropout.hpp"
#include "attn/ops/functions.hpp"

// Arithmetic on activations, fused into one pass.
//
//   evaluate_expression            y = expression
//   evaluate_expression_gradient   the gradients of the expression's leaves, from dy
//
// An expression is a tree of types: functions of numbers (ops/functions.hpp) applied to leaves. y may be the same matrix
// as a dense leaf's value. The backward pass recomputes intermediate values, so none is stored.
//
// Leaves with the same gradient memory sum their contributions. The op overwrites that memory if one of their Sinks sets,
// and adds to it otherwise. A leaf without gradient memory gets no gradient.

namespace attn {

/// A matrix of the expression's shape.
template <class T>
struct DenseLeaf {
  Matrix<const T> value;  // rows x cols
  Sink<T> gradient;       // rows x cols, or none
};

/// A learned vector, the same for all rows.
template <class T, class Real>
struct RowLeaf {
  const T* value;  // cols
  Real* gradient;  // cols, or null: accumulates the sum over rows
};

/// One number per row, the same for all columns.
template <class T>
struct ColumnLeaf {
  Matrix<const T> value;  // rows x 1, or none
  Sink<T> gradient;       // rows x 1, or none: the sum over columns
};

struct ScalarLeaf {
  double value;
};

/// 0 or 1 / (1 - rate): the dropout mask as a factor. 1 everywhere if dropout is inactive.
struct DropoutLeaf {
  Dropout dropout;
};

/// F applied to other expressions.
template <class F, class... E>
struct Apply {
  Tuple<E...> of;
};

template <class Device, class E>
struct ExpressionArgs {
  E expression;
  Matrix<typename Device::Scalar> y;  // rows x cols
};

template <class Device, class E>
struct ExpressionGradientArgs {
  E expression;
  Matrix<const typename Device::Scalar> dy;  // rows x cols
};

}  // namespace attn
