#pragma once
#include "attn/core/tuple.hpp"
#include "attn/ops/dropout.hpp"
#include "attn/ops/functions.hpp"
#include "attn/ops/no_backend.hpp"

// Arithmetic on activations, fused into one pass.
//
//   evaluate            y = expression
//   evaluate_gradient   the gradients of the expression's leaves, from dy
//
// An expression is a tree of types: functions of numbers (ops/functions.hpp) applied to leaves. y may be the same matrix
// as a dense leaf's value. The backward pass recomputes intermediate values, so none is stored.
//
// Leaves whose gradients are in the same place sum their contributions. That place is set if one of these leaves has a
// Sink that sets, and added to otherwise. A leaf without a place for its gradient has none.

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
  Matrix<const T> value;  // rows x 1
  Sink<T> gradient;       // rows x 1, or none: the sum over columns
};

struct ScalarLeaf {
  double value;
};

/// 0 or 1 / (1 - rate): the mask of the dropout op as a factor. 1 everywhere if the dropout is inactive.
struct DropoutLeaf {
  Dropout dropout;
};

/// F of other expressions.
template <class F, class... E>
struct Apply {
  Tuple<E...> of;
};

template <class Device, class E>
struct EvaluateArgs {
  E expression;
  Matrix<typename Device::Scalar> y;  // rows x cols
};

template <class Device, class E>
struct EvaluateGradientArgs {
  E expression;
  Matrix<const typename Device::Scalar> dy;  // rows x cols
};

template <class Device, class E>
void evaluate(Device&, const EvaluateArgs<Device, E>&) {
  no_backend<Device>();
}
template <class Device, class E>
void evaluate_gradient(Device&, const EvaluateGradientArgs<Device, E>&) {
  no_backend<Device>();
}

}  // namespace attn
