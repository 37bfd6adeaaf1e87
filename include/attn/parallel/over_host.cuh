#pragma once
#include <string>

#include "attn/parallel/communicator.hpp"
#include "attn/parallel/stream_waits.cuh"

namespace attn {

/// Base of GPU communicators that use a host communicator for ranks and host data.
class OverHost : public Communicator {
 public:
  explicit OverHost(Communicator& host) : host_(host) {}

  Index rank() const final { return host_.rank(); }
  Index ranks() const final { return host_.ranks(); }
  Index rank_on_host() const final { return host_.rank_on_host(); }
  Index ranks_on_host() const final { return host_.ranks_on_host(); }
  std::string host(Index rank) const final { return host_.host(rank); }
  bool takes_gpu_memory() const final { return true; }
  double seconds_waited() final { return waits_.seconds(); }
  void begin_batch() final { host_.begin_batch(); }
  void end_step() final { host_.end_step(); }
  int stop_all(int status, const std::string& why) final { return host_.stop_all(status, why); }

 protected:
  Communicator& host_;
  StreamWaits waits_;
};

}  // namespace attn
