#pragma once
#include <vector>

#include "attn/core/types.hpp"

namespace attn {

/// A number of each step, written by the steps of a device one after the other, and read by the host while the device goes on. On the
/// CPU a step is done when it has been made; elsewhere the host waits for the number, not for the device
/// (cuda/support/watched_counts.cuh).
template <class Device>
class WatchedCounts {
 public:
  WatchedCounts(Device&, Index steps) : counts_(static_cast<std::size_t>(steps)) {}

  std::int32_t* data() { return counts_.data(); }
  /// What step i wrote.
  std::int32_t of(Index i) const { return counts_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<std::int32_t> counts_;
};

}  // namespace attn
