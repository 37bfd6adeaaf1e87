#pragma once
#include "attn/core/types.hpp"

// Over the flat buffer of all weights:
//
//   moving_average   average += (1 - decay) * (value - average)
//   exchange_average swaps value and average, and updates the low-precision copy of value

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
  Scalar* compute = nullptr;  // count: the copy in compute precision, if separate from value
  Index count;
};

}  // namespace attn
