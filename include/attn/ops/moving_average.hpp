#pragma once
#include "attn/core/types.hpp"
#include "attn/ops/no_backend.hpp"

// Over the flat buffer of all weights:
//
//   moving_average   average += (1 - decay) * (value - average)
//   exchange_average value <-> average, and the low-precision copy of what value has then

namespace attn {

template <class Device>
struct MovingAverageArgs {
  using Real = typename Device::Real;
  const Real* value;  // count
  Real* average;      // count
  Index count;
  double decay;
};

template <class Device>
struct ExchangeAverageArgs {
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;
  Real *value, *average;      // count
  Scalar* compute = nullptr;  // count: the copy that models compute with, where it is not value itself
  Index count;
};

template <class Device>
void moving_average(Device&, const MovingAverageArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void exchange_average(Device&, const ExchangeAverageArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
