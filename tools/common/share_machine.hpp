#pragma once
#include <thread>

#include "attn/core/thread_pool.hpp"
#include "attn/parallel/communicator.hpp"
#include "attn/run/device_options.hpp"

namespace attn {

/// Assigns GPUs round-robin, or equal shares of the cores, to the ranks of a machine, unless set explicitly.
inline void share_machine(DeviceOptions& device, const Communicator& ranks) {
  if (ranks.ranks_on_host() == 1) return;
  const GpuSupport gpus = gpu_support();
  const int count = device.device == "cpu" || gpus.count == nullptr ? 0 : gpus.count();
  if (count > 0 && device.gpu == 0) device.gpu = static_cast<int>(ranks.rank_on_host() % count);
  if (count == 0 && device.threads == 0)
    device.threads = static_cast<int>(
        std::min(all_threads(), std::max<Index>(1, std::thread::hardware_concurrency() / ranks.ranks_on_host())));
}

}  // namespace attn
