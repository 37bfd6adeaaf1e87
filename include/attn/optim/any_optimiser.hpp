#pragma once
#include "attn/optim/non_finite.hpp"
#include "attn/optim/optimiser.hpp"

namespace attn {

/// Refers to any optimiser of a device's parameters, so that the trainer and checkpoints are compiled once for all of them.
/// Also supplies the functions that an optimiser may omit.
template <class Device>
struct AnyOptimiser {
  using VisitState = std::function<void(const std::string& name, typename Device::Real* numbers, Index count)>;

  AnyOptimiser(Optimiser auto& of)
      : name([&of] { return std::string(of.name); }),
        step([&of](double rate) { of.step(rate); }),
        steps([&of] { return of.steps(); }),
        set_steps([&of](Index count) { of.set_steps(count); }),
        for_each_state([&of](const VisitState& visit) {
          of.for_each_state([&](const std::string& state, const auto& numbers) {
            visit(state, numbers.data(), static_cast<Index>(numbers.size()));
          });
        }) {
    if constexpr (requires { of.gradient_norm(); }) gradient_norm = [&of] { return of.gradient_norm(); };
    if constexpr (requires { of.rules(); }) rules = [&of] { return of.rules(); };
    if constexpr (requires(NonFinite policy) { of.set_non_finite(policy); })
      set_non_finite = [&of](NonFinite policy) { of.set_non_finite(policy); };
    else
      set_non_finite = [&of](NonFinite policy) {
        require(policy == NonFinite::stop, "the optimiser ", of.name,
                " cannot skip steps with non-finite gradients. Give it a set_non_finite(policy).");
      };
    if constexpr (requires { of.take_skipped_steps(); }) take_skipped_steps = [&of] { return of.take_skipped_steps(); };
    if constexpr (requires { of.averages_weights(); }) averages_weights = [&of] { return of.averages_weights(); };
    if constexpr (requires { of.exchange(); }) exchange = [&of] { of.exchange(); };
  }

  std::function<std::string()> name;
  std::function<void(double rate)> step;
  std::function<Index()> steps;
  std::function<void(Index)> set_steps;
  std::function<void(const VisitState&)> for_each_state;
  /// The norm of all gradients of the last step, if the optimiser has computed it.
  std::function<std::optional<double>()> gradient_norm = [] { return std::optional<double>(); };
  /// The parameters that each of several optimisers updates; empty for a single optimiser.
  std::function<std::string()> rules = [] { return std::string(); };
  std::function<void(NonFinite)> set_non_finite;
  /// Steps skipped since the last call.
  std::function<SkippedSteps()> take_skipped_steps = [] { return SkippedSteps(); };
  std::function<bool()> averages_weights = [] { return false; };
  /// Swaps the weights and their average, if the optimiser keeps one.
  std::function<void()> exchange = [] {};
};

/// Gives the model the averaged weights during its lifetime, if the optimiser keeps an average.
template <class Device>
class ScopedWeights {
 public:
  explicit ScopedWeights(AnyOptimiser<Device> optimiser) : optimiser_(std::move(optimiser)) { optimiser_.exchange(); }
  ~ScopedWeights() { optimiser_.exchange(); }
  ScopedWeights(const ScopedWeights&) = delete;

 private:
  AnyOptimiser<Device> optimiser_;
};

}  // namespace attn
