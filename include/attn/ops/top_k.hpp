#pragma once
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// top_k   the k largest of log softmax(logits) of each row, the largest first and of equals the lower class first:
//
//   best[i][j]               a class, or -1 where row i has no more to choose from
//   log_probabilities[i][j]  its logit - log sum of exp over the whole row, or -inf
//
// Classes of `except` are never chosen, but count in the sum: what is left keeps the probability that the model gave it. A
// row with only[i] >= 0 has one choice, that class, even one of `except`. Logits are finite or -inf, whose log-probability is
// -inf too. NaN is never chosen, and log-probabilities beside it mean nothing.

namespace attn {

template <class Device>
struct TopKArgs {
  using Real = typename Device::Real;
  Matrix<const typename Device::Scalar> logits;  // rows x classes
  Matrix<Token> best;                            // rows x k
  Matrix<Real> log_probabilities;                // rows x k
  const Token* except = nullptr;                 // classes that are never chosen, in any order, or none
  Index excepted = 0;                            // how many
  const Token* only = nullptr;                   // rows: the one class to choose, or -1; nullptr for no such rows
};

template <class Device>
void top_k(Device&, const TopKArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
