#pragma once
#include "attn/core/parameters.hpp"
#include "attn/ops/optimisers.hpp"

namespace attn {

/// The parameters that an optimiser updates: all, or a part if several processes share the work
/// (parallel/data_parallel.hpp).
template <class Device>
struct UpdateShare {
  Index first = 0, count = -1;                              // a part of the flat buffers; -1: all
  std::function<void(typename Device::Real*)> add_up = {};  // replaces a number on the device by its sum over all processes
  std::function<void()> gather_values = {};                 // after a step: sends all values to all processes

  /// The same share with its numbers counted.
  UpdateShare of(const Parameters<Device>& parameters) const {
    UpdateShare share = *this;
    if (count < 0) share.first = 0, share.count = parameters.size();
    return share;
  }
};

/// Zeros on the device, one for each number of the parameters: a state of an optimiser.
template <class Device>
Buffer<typename Device::Real, typename Device::Memory> optimiser_state(Parameters<Device>& parameters, Index count) {
  Buffer<typename Device::Real, typename Device::Memory> numbers(parameters.device(), count, "optimiser states");
  parameters.device().zero(numbers.data(), count);
  return numbers;
}

}  // namespace attn
