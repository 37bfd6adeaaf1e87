#pragma once
#include "attn/core/repeated_step.hpp"

namespace attn {

/// A step of decoding that is made again and again with the same shapes and the same memory. On the CPU it is simply made; a
/// device whose launches cost more than its work records it once and repeats the record (cuda/support/step_graph.cuh). The
/// first time everything is allowed; after that a step uploads nothing, on any device: a record would keep where it was
/// copied from, and not what stood there.
template <class Device>
struct StepGraph {
  static constexpr bool records = false;
  explicit StepGraph(Device& device) : device_(device) {}

  template <class Step>
  void run(const Step& step) {
    const RepeatedStep<Device> repeated(device_, warm_);
    step();
    warm_ = true;
  }

 private:
  Device& device_;
  bool warm_ = false;
};

}  // namespace attn
