#pragma once
#include "attn/core/types.hpp"
#include "attn/ops/no_backend.hpp"

// sum_of_squares   total = sum of x[i]², always in the same order
//
// Of all gradients it is the square of their norm, by which optimisers clip: they multiply every gradient by
//
//   clip = min(1, clip_norm / (sqrt(total) + 1e-6)),   torch.nn.utils.clip_grad_norm_.

namespace attn {

template <class Device>
struct SumOfSquaresArgs {
  using Real = typename Device::Real;
  const Real* x;  // count
  Index count;
  Real* total;  // 1, set
};

template <class Device>
void sum_of_squares(Device&, const SumOfSquaresArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
