#pragma once
#include "attn/core/types.hpp"
#include "attn/ops/no_backend.hpp"

// sum_of_squares   total = sum of x[i]², always in the same order
//
// Of all gradients it is the square of their norm, by which optimisers clip: they multiply every gradient by
//
//   clip = min(1, clip_norm / (sqrt(total) + 1e-6)),   torch.nn.utils.clip_grad_norm_.
//
// Where it is not finite, neither are the gradients, and a step by them would spoil every parameter: an optimiser that is given
// LeftOut leaves such a step out, and notes it there. Nobody waits for the device to know.

namespace attn {

template <class Device>
struct SumOfSquaresArgs {
  using Real = typename Device::Real;
  const Real* x;  // count
  Index count;
  Real* total;  // 1, set
};

/// Steps that were left out because their gradients are not finite.
template <class Real>
struct LeftOut {
  Real* noted = nullptr;        // 2: how many, and which was the first; nullptr: none is left out
  bool keep_gradients = false;  // of such a step, for somebody to look at; else they are 0 afterwards
};

template <class Device>
void sum_of_squares(Device&, const SumOfSquaresArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
