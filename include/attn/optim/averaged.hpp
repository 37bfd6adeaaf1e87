#pragma once
#include "attn/core/network.hpp"
#include "attn/optim/any_optimiser.hpp"
#include "attn/optim/update_share.hpp"

namespace attn {

/// An optimiser that also keeps the exponential moving average of the weights. A trainer validates, saves and scores the
/// averaged weights, and trains the original ones.
///
///     Adam adam(network);
///     Averaged averaged(network, adam, 0.999);
///     Trainer trainer(network, averaged, ConstantRate{1e-3});
///
/// Step t keeps min(decay, (1 + t) / (10 + t)) of the average, so that it soon forgets the initial weights. With a decay
/// of 0 there is no average.
template <class Device>
class Averaged {
 public:
  Averaged(Parameters<Device>& parameters, std::type_identity_t<AnyOptimiser<Device>> optimiser, double decay)
      : name(optimiser.name()),
        parameters_(parameters),
        optimiser_(std::move(optimiser)),
        decay_(decay),
        average_(optimiser_state(parameters, decay > 0 ? parameters.size() : 0)) {
    require(decay >= 0 && decay < 1, "Averaged: a decay of ", decay, " is not in [0, 1)");
    update(0);  // begins with the weights as they are
  }
  template <class Model>
  Averaged(Network<Model>& network, AnyOptimiser<Device> optimiser, double decay)
      : Averaged(network.parameters, std::move(optimiser), decay) {}

  const std::string name;  // of the optimiser

  void step(double rate) {
    optimiser_.step(rate);
    const auto t = static_cast<double>(optimiser_.steps());
    update(std::min(decay_, (1 + t) / (10 + t)));
  }

  bool averages_weights() const { return average_.size() > 0; }

  /// Swaps the weights and their average.
  void exchange() {
    if (!averages_weights()) return;
    exchange_average(parameters_.device(), {.value = parameters_.values(),
                                            .average = average_.data(),
                                            .compute = parameters_.compute(),
                                            .count = parameters_.size()});
  }

  Index steps() const { return optimiser_.steps(); }
  void set_steps(Index steps) { optimiser_.set_steps(steps); }
  std::optional<double> gradient_norm() const { return optimiser_.gradient_norm(); }
  std::string rules() const { return optimiser_.rules(); }
  void set_non_finite(NonFinite policy) { optimiser_.set_non_finite(policy); }
  SkippedSteps take_skipped_steps() { return optimiser_.take_skipped_steps(); }
  void for_each_state(const auto& visit) {
    optimiser_.for_each_state([&](const std::string& state, auto* numbers, Index count) {
      visit(state, std::span(numbers, static_cast<std::size_t>(count)));
    });
    if (averages_weights()) visit("average", std::span(average_.data(), static_cast<std::size_t>(average_.size())));
  }

 private:
  void update(double decay) {
    if (averages_weights())
      moving_average(parameters_.device(), {parameters_.values(), average_.data(), parameters_.size(), decay});
  }

  Parameters<Device>& parameters_;
  AnyOptimiser<Device> optimiser_;
  double decay_;
  Buffer<typename Device::Real, typename Device::Memory> average_;
};

template <class Model, class Optim>
Averaged(Network<Model>&, Optim&, double) -> Averaged<typename Model::DeviceType>;

}  // namespace attn
