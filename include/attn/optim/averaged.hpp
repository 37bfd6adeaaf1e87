#pragma once
#include <algorithm>
#include <string>

#include "attn/core/network.hpp"
#include "attn/ops/moving_average.hpp"
#include "attn/optim/gradient_norm.hpp"
#include "attn/optim/optimiser.hpp"

namespace attn {

/// An optimiser that also keeps the exponential moving average of the weights. A trainer validates, saves and scores the
/// averaged weights, and goes on from its own.
///
///     Adam adam(network);
///     Averaged averaged(network, adam, 0.999);
///     Trainer trainer(network, averaged, Constant{1e-3});
///
/// After step t an average keeps min(decay, (1 + t) / (10 + t)) of itself, so that it soon forgets the weights that were
/// drawn. With a decay of 0 there is no average: it is the optimiser.
template <class Device, class Optim>
class Averaged {
 public:
  static_assert(Optimiser<Optim>);
  static constexpr const char* name = Optim::name;

  Averaged(Parameters<Device>& parameters, Optim& optimiser, double decay)
      : parameters_(parameters),
        optimiser_(optimiser),
        decay_(decay),
        average_(optimiser_state(parameters, decay > 0 ? parameters.size() : 0)) {
    require(decay >= 0 && decay < 1, "Averaged: a decay of ", decay, " is not in [0, 1)");
    update(0);  // begins with the weights as they are
  }
  template <class Model>
  Averaged(Network<Model>& network, Optim& optimiser, double decay) : Averaged(network.parameters, optimiser, decay) {}

  void step(double rate) {
    optimiser_.step(rate);
    const auto t = static_cast<double>(optimiser_.steps());
    update(std::min(decay_, (1 + t) / (10 + t)));
  }

  bool averages_weights() const { return average_.size() > 0; }

  /// The model gets the averaged weights, the average keeps its own; once more, and all is as before.
  void exchange() {
    if (!averages_weights()) return;
    exchange_average(parameters_.device(), {.value = parameters_.values(),
                                            .average = average_.data(),
                                            .compute = parameters_.compute(),
                                            .count = parameters_.size()});
  }

  Index steps() const { return optimiser_.steps(); }
  void set_steps(Index steps) { optimiser_.set_steps(steps); }
  auto gradient_norm() const { return attn::gradient_norm(optimiser_); }
  std::string rules() const { return optimiser_rules(optimiser_); }
  void set_bad_numbers(BadNumbers what) { attn::set_bad_numbers(optimiser_, what); }
  BadSteps take_bad_steps() { return attn::take_bad_steps(optimiser_); }
  template <class Visit>
  void for_each_state(const Visit& visit) {
    optimiser_.for_each_state(visit);
    if (averages_weights()) visit("average", average_);
  }

 private:
  void update(double decay) {
    if (averages_weights())
      moving_average(parameters_.device(), {parameters_.values(), average_.data(), parameters_.size(), decay});
  }

  Parameters<Device>& parameters_;
  Optim& optimiser_;
  double decay_;
  Buffer<typename Device::Real, typename Device::Memory> average_;
};

template <class Model, class Optim>
Averaged(Network<Model>&, Optim&, double) -> Averaged<typename Model::DeviceType, Optim>;

/// Whether an optimiser keeps an average of the weights.
template <class Optim>
bool averages_weights(const Optim& optimiser) {
  if constexpr (requires { optimiser.averages_weights(); })
    return optimiser.averages_weights();
  else
    return false;
}

/// While it lives, the model has the weights that are to be used: the averaged ones, where the optimiser keeps an average.
template <class Optim>
class WeightsToUse {
 public:
  explicit WeightsToUse(Optim& optimiser) : optimiser_(optimiser) { exchange(); }
  ~WeightsToUse() { exchange(); }
  WeightsToUse(const WeightsToUse&) = delete;

 private:
  void exchange() {
    if constexpr (requires { optimiser_.exchange(); }) optimiser_.exchange();
  }
  Optim& optimiser_;
};

}  // namespace attn
