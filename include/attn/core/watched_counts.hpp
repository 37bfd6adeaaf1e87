#pragma once
#include <vector>

#include "attn/core/types.hpp"

namespace attn {

/// One number per step, written by the device and read by the host while the device continues. On the CPU a step is
/// complete when it returns; elsewhere the host waits for the number, not for the device
/// (cuda/support/step_graph.cuh).
template <class Device>
class WatchedCounts {
 public:
  WatchedCounts(Device&, Index steps) : counts_(static_cast<std::size_t>(steps)) {}

  std::int32_t* data() { return counts_.data(); }
  /// The number written by step i.
  std::int32_t of(Index i) const { return counts_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<std::int32_t> counts_;
};

}  // namespace attn
