#pragma once
#include <utility>

#include "attn/core/error.hpp"

namespace attn {

/// While it lives, the device makes a step that is repeated (decode/step_graph.hpp), where `repeated` says so: it refuses to upload.
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

/// What a device's upload begins with.
inline void refuse_in_repeated_step(bool repeats_step) {
  require(!repeats_step,
          "upload: inside a step that is recorded and repeated, which would copy again from where this came from; upload "
          "before the steps, to memory that outlives them");
}

}  // namespace attn
