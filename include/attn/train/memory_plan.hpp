#pragma once
#include <sys/resource.h>

#include <fstream>

#include "attn/optim/any_optimiser.hpp"
#include "attn/train/batch_loss.hpp"

namespace attn {

/// Memory of a training, in bytes.
struct MemoryPlan {
  Index parameters = 0;   // parameters and their gradients
  Index optimiser = 0;    // optimizer states
  Index activations = 0;  // for one batch
  Index gradients = 0;    // gradients of activations: a few layers at once
  Index scratch = 0;      // temporary buffers of ops
  Index available = 0;    // total memory of the device
  Index host = 0;         // peak host memory of the process: the text, and on a CPU all of the above

  Index total() const { return parameters + optimiser + activations + gradients + scratch; }

  /// "parameters and their gradients 0.35 GiB, optimiser 0.71, activations 1.20, their gradients 0.31, scratch 0.06: 2.63
  /// of 139.1 GiB; host memory up to 1.30 GiB, text included". Uses MiB if the total is below one GiB.
  std::string to_string() const {
    const auto gib = [](Index bytes) { return static_cast<double>(bytes) / (1 << 30); };
    const bool small = gib(total()) < 1;
    const auto number = [&](Index bytes) {
      return detail::formatted(small ? "%.1f" : "%.2f", gib(bytes) * (small ? 1024 : 1));
    };
    const std::string unit = small ? " MiB" : " GiB";
    return "parameters and their gradients " + number(parameters) + unit + ", optimiser " + number(optimiser) +
           ", activations " + number(activations) + ", their gradients " + number(gradients) + ", scratch " +
           number(scratch) + ": " + number(total()) + (small ? unit : "") + " of " +
           detail::formatted("%.1f", gib(available)) + " GiB" +
           (host > 0 ? "; host memory up to " + detail::formatted("%.2f", gib(host)) + " GiB, text included" : "");
  }
};

/// Peak resident memory of this process, in bytes.
inline Index peak_resident_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return Index{std::stoll(line.substr(6))} * 1024;
  struct rusage usage {};  // on Linux, this includes the peak of the program that started this one
  ::getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return usage.ru_maxrss;
#else
  return Index{usage.ru_maxrss} * 1024;
#endif
}

/// Allocates the memory of a training before its first step, so that a lack of memory (OutOfMemory) shows now and not in a
/// later epoch. Runs forward and backward on the largest training batches and forward on the largest validation batches
/// (see Batches::largest). Does not change the training: gradients are 0 afterwards, and the results are bitwise the same
/// as without a plan.
template <class Device>
MemoryPlan plan_memory(Parameters<Device>& parameters, const BatchLoss<Device>& loss, const AnyOptimiser<Device>& optimiser,
                       std::span<const Batch> training, std::span<const Batch> validation = {}) {
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;
  Device& device = parameters.device();
  for (const Batch& batch : training) {
    Tape<Device> tape(device, TapeMode::training(0, 0));
    loss(tape, batch).backward();
  }
  device.zero(parameters.gradients(), parameters.size());
  for (const Batch& batch : validation) {
    Tape<Device> tape(device);
    loss(tape, batch).evaluate();
  }
  constexpr std::size_t kCopy = std::is_same_v<Scalar, Real> ? 0 : sizeof(Scalar);  // low-precision copy used for computing
  MemoryPlan plan{.parameters = parameters.size() * Index{2 * sizeof(Real) + kCopy},
                  .activations = static_cast<Index>(device.activations.capacity()),
                  .gradients = static_cast<Index>(device.gradients.capacity()),
                  .scratch = device.scratch(),
                  .available = device.memory(),
                  .host = peak_resident_memory()};
  optimiser.for_each_state(
      [&](const std::string&, const Real*, Index count) { plan.optimiser += count * Index{sizeof(Real)}; });
  return plan;
}

template <class Model>
MemoryPlan plan_memory(Network<Model>& network, const AnyOptimiser<typename Model::DeviceType>& optimiser,
                       std::span<const Batch> training, std::span<const Batch> validation = {}) {
  return plan_memory(network.parameters, BatchLoss(network), optimiser, training, validation);
}

}  // namespace attn
