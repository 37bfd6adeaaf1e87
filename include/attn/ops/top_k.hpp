#pragma once
#include "attn/core/matrix.hpp"

// top_k   the k largest log softmax(logits) of each row, in descending order; the lower class first among equals:
//
//   best[i][j]               a class, or -1 if row i has no more choices
//   log_probabilities[i][j]  its logit - the log-sum-exp of the whole row, or -inf
//
// Classes in `except` are never chosen. By default they count in the log-sum-exp, so the others keep the model's
// probabilities; with `renormalize` they do not, so the others' probabilities sum to 1. A row with only[i] >= 0 has one
// choice, that class, even if it is in `except`. Logits are finite or -inf; the log-probability of -inf is -inf. NaN is
// never chosen, and the log-probabilities of its row are meaningless.

namespace attn {

template <class Device>
struct TopKArgs {
  using Real = typename Device::Real;
  Matrix<const typename Device::Scalar> logits;  // rows x classes
  Matrix<Token> best;                            // rows x k
  Matrix<Real> log_probabilities;                // rows x k
  const Token* except = nullptr;                 // excluded classes in any order, or null
  Index excepted = 0;                            // size of `except`
  const Token* only = nullptr;                   // rows: the one class to choose, or -1; nullptr for no such rows
  bool renormalize = false;                      // exclude `except` from the log-sum-exp
};

}  // namespace attn
