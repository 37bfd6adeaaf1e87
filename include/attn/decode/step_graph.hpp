#pragma once

namespace attn {

/// A step of decoding that is made again and again with the same shapes and the same memory. On the CPU it is simply made; a
/// device whose launches cost more than its work records it once and repeats the record (cuda/support/step_graph.cuh).
template <class Device>
struct StepGraph {
  static constexpr bool records = false;
  explicit StepGraph(Device&) {}

  template <class Step>
  void run(const Step& step) {
    step();
  }
};

}  // namespace attn
