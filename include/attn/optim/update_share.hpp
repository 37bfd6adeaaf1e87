#pragma once
#include <functional>

#include "attn/core/parameters.hpp"

namespace attn {

/// What an optimiser updates: all parameters, or, where several processes share the work, a part of them
/// (parallel/data_parallel.hpp).
template <class Device>
struct UpdateShare {
  Index first = 0, count = 0;                               // a part of the flat buffers
  std::function<void(typename Device::Real*)> add_up = {};  // makes a number on the device the sum of all processes'
  std::function<void()> bring_together = {};                // after a step: everybody gets all values

  static UpdateShare all(const Parameters<Device>& parameters) { return {0, parameters.size()}; }
};

}  // namespace attn
