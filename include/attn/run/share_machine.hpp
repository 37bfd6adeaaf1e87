#pragma once
#include <algorithm>

#include "attn/core/parallel_for.hpp"
#include "attn/parallel/communicator.hpp"
#include "attn/run/device_options.hpp"

namespace attn {

/// Ranks of one machine take its GPUs in turn, or an equal share of its cores, unless they are told.
inline void share_machine(DeviceOptions& device, const Communicator& ranks) {
  if (ranks.ranks_on_host() == 1) return;
  const GpuSupport gpus = gpu_support();
  const int count = device.device == "cpu" || gpus.count == nullptr ? 0 : gpus.count();
  if (count > 0 && device.gpu == 0) device.gpu = static_cast<int>(ranks.rank_on_host() % count);
  if (count == 0 && device.threads == 0)
    device.threads = static_cast<int>(std::max<Index>(1, all_threads() / ranks.ranks_on_host()));
}

}  // namespace attn
