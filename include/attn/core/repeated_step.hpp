#pragma once
#include <utility>

#include "attn/core/error.hpp"

namespace attn {

/// RAII: if `repeated`, the device rejects uploads during its lifetime, as a repeated step needs (core/step_graph.hpp).
template <class Device>
class RepeatedStep {
 public:
  RepeatedStep(Device& device, bool repeated) : device_(device), before_(std::exchange(device.repeats_step, repeated)) {}
  RepeatedStep(const RepeatedStep&) = delete;
  ~RepeatedStep() { device_.repeats_step = before_; }

 private:
  Device& device_;
  bool before_;
};

/// Every device's upload calls this first.
inline void check_upload_allowed(bool repeats_step) {
  require(!repeats_step,
          "upload inside a recorded step would repeat the same data. Upload before recording, to memory that outlives the "
          "graph.");
}

}  // namespace attn
