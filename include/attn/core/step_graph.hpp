#pragma once
#include "attn/core/repeated_step.hpp"

namespace attn {

/// A decoding step that runs repeatedly with the same shapes and the same memory. The CPU runs it directly. A device with a
/// high launch cost records it once and replays the graph (cuda/support/step_graph.cuh). The first run may upload; later
/// runs may not, on any device, because a graph records the address of an upload's source and not its contents.
template <class Device>
struct StepGraph {
  static constexpr bool records = false;
  explicit StepGraph(Device& device) : device_(device) {}

  void run(const auto& step) {
    const RepeatedStep<Device> repeated(device_, warm_);
    step();
    warm_ = true;
  }

 private:
  Device& device_;
  bool warm_ = false;
};

}  // namespace attn
