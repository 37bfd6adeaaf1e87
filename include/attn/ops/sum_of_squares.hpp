#pragma once
#include "attn/core/types.hpp"

// sum_of_squares   total = sum of x[i]², in a fixed order
//
// Over all gradients it is their squared norm, used for clipping: optimisers multiply every gradient by
//
//   clip = min(1, clip_norm / (sqrt(total) + 1e-6)),   torch.nn.utils.clip_grad_norm_.
//
// If the norm is not finite, neither are the gradients, and the step would ruin every parameter. An optimiser with LeftOut
// skips the step and records it there, without a host synchronisation.

namespace attn {

template <class Device>
struct SumOfSquaresArgs {
  using Real = typename Device::Real;
  const Real* x;  // count
  Index count;
  Real* total;  // 1, set
};

/// Records steps skipped because of non-finite gradients.
template <class Real>
struct LeftOut {
  Real* noted = nullptr;        // 2: number of skipped steps and the first one; nullptr: skip none
  bool keep_gradients = false;  // keep the gradients of a skipped step for inspection instead of zeroing them
};

}  // namespace attn
