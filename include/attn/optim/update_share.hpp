#pragma once
#include <functional>

#include "attn/core/parameters.hpp"

namespace attn {

/// The parameters that an optimiser updates: all, or a part if several processes share the work
/// (parallel/data_parallel.hpp).
template <class Device>
struct UpdateShare {
  Index first = 0, count = 0;                               // a part of the flat buffers
  std::function<void(typename Device::Real*)> add_up = {};  // replaces a number on the device by its sum over all processes
  std::function<void()> gather_values = {};                 // after a step: sends all values to all processes

  static UpdateShare all(const Parameters<Device>& parameters) { return {0, parameters.size()}; }
};

}  // namespace attn
