#pragma once

namespace attn {

/// What an op is where no backend has a body for the device: a backend's template, or a device's own function, is chosen
/// before the declaration in the contract, whose body calls this.
template <class Device>
void no_backend() {
  static_assert(sizeof(Device*) == 0, "attn: no backend: include <attn/cpu.hpp> or <attn/cuda.cuh>");
}

}  // namespace attn
