#pragma once
#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// RAII: if `repeated`, the device rejects uploads during its lifetime, as a StepGraph needs.
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
