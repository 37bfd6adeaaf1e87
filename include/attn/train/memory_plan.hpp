#pragma once
#include <cstdio>
#include <span>
#include <string>
#include <type_traits>

#include "attn/train/trainer.hpp"

namespace attn {

/// The memory that a training holds, in bytes.
struct MemoryPlan {
  Index parameters = 0;   // and their gradients
  Index optimiser = 0;    // its states
  Index activations = 0;  // of one batch
  Index gradients = 0;    // of activations: a few layers' worth
  Index scratch = 0;      // of single ops
  Index available = 0;    // what the device has

  Index total() const { return parameters + optimiser + activations + gradients + scratch; }

  /// "parameters and their gradients 0.35 GiB, optimiser 0.71, activations 1.20, their gradients 0.31, scratch 0.06: 2.63 of
  /// 139.1 GiB"; in MiB where all of it is less than one GiB.
  std::string to_string() const {
    constexpr double kGiB = 1 << 30;
    const bool small = static_cast<double>(total()) < kGiB;
    const auto text = [](Index bytes, double unit, const char* format) {
      char digits[32];
      std::snprintf(digits, sizeof digits, format, static_cast<double>(bytes) / unit);
      return std::string(digits);
    };
    const auto number = [&](Index bytes) { return text(bytes, small ? kGiB / 1024 : kGiB, small ? "%.1f" : "%.2f"); };
    const std::string unit = small ? " MiB" : " GiB";
    return "parameters and their gradients " + number(parameters) + unit + ", optimiser " + number(optimiser) +
           ", activations " + number(activations) + ", their gradients " + number(gradients) + ", scratch " +
           number(scratch) + ": " + number(total()) + (small ? unit : "") + " of " + text(available, kGiB, "%.1f") + " GiB";
  }
};

/// Takes the memory of a training before its first step, so that what does not fit is an error (OutOfMemory) now and not in
/// some later epoch: runs the largest batches to learn from forward and backward, and the largest ones to validate with
/// forward. Batches::largest finds them. Nothing is learnt: gradients are 0 afterwards, and the training's bits are the same
/// with a plan and without.
template <class Model, class Optim>
MemoryPlan plan_memory(Network<Model>& network, Optim& optimiser, std::span<const Batch> training,
                       std::span<const Batch> validation = {}) {
  using Device = typename Model::DeviceType;
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;
  Device& device = network.device();
  const Parameters<Device>& parameters = network.parameters;
  for (const Batch& batch : training) {
    Tape<Device> tape(device, TapeMode::training(0, 0));
    network->loss(tape, batch).backward();
  }
  device.zero(parameters.gradients(), parameters.size());
  for (const Batch& batch : validation) {
    Tape<Device> tape(device);
    network->loss(tape, batch).evaluate();
  }
  constexpr std::size_t kCopy = std::is_same_v<Scalar, Real> ? 0 : sizeof(Scalar);  // what the model computes with
  MemoryPlan plan{.parameters = parameters.size() * Index{2 * sizeof(Real) + kCopy},
                  .activations = static_cast<Index>(device.activations.capacity()),
                  .gradients = static_cast<Index>(device.gradients.capacity()),
                  .scratch = device.scratch(),
                  .available = device.memory()};
  optimiser.for_each_state(
      [&](const auto&, const auto& numbers) { plan.optimiser += numbers.size() * Index{sizeof(Real)}; });
  return plan;
}

}  // namespace attn
