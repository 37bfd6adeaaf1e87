#pragma once
#include <concepts>
#include <utility>

#include "attn/core/network.hpp"
#include "attn/ops/sgd.hpp"
#include "attn/optim/check_options.hpp"
#include "attn/optim/gradient_norm.hpp"
#include "attn/optim/group_table.hpp"
#include "attn/optim/optimiser.hpp"
#include "attn/optim/unknown_option.hpp"
#include "attn/optim/update_share.hpp"

namespace attn {

/// Stochastic gradient descent over all parameters of a model, with momentum, Nesterov's or the plain one, weight decay, and
/// clipping by the global norm: one pass over the flat buffers. torch.optim.SGD. Groups and frozen parameters
/// (Parameters::group, freeze) may change between steps. Weight decay skips vectors, that is biases and norms, unless
/// SgdOptions::decay_vectors is set.
template <class Device>
class Sgd {
 public:
  static constexpr const char* name = "sgd";

  explicit Sgd(Parameters<Device>& parameters, SgdOptions options = {})
      : Sgd(parameters, options, UpdateShare<Device>::all(parameters)) {}
  /// Of a part of the parameters.
  Sgd(Parameters<Device>& parameters, SgdOptions options, UpdateShare<Device> share)
      : parameters_(parameters),
        share_(std::move(share)),
        options_(options),
        momentum_(optimiser_state(parameters, options.momentum > 0 ? share_.count : 0)),
        norm_(parameters, share_),
        groups_(parameters, share_, typename GroupTable<Device>::Decay{options.weight_decay, options.decay_vectors}) {
    check_options(options);
  }
  template <class Model>
  explicit Sgd(Network<Model>& network, SgdOptions options = {}) : Sgd(network.parameters, options) {}
  template <class Model>
  Sgd(Network<Model>& network, SgdOptions options, UpdateShare<Device> share)
      : Sgd(network.parameters, options, std::move(share)) {}

  // Misspelt options, and a learning rate in the place of the options.
  template <class Model, class... Rest>
  Sgd(const Network<Model>&, detail::UnknownSgdOption, const Rest&...) : Sgd(detail::refuse_sgd_option<Sgd, Model>()) {}
  template <class Model, std::convertible_to<double> Rate>
  Sgd(const Network<Model>&, Rate) : Sgd(detail::refuse_sgd_option<Sgd, Model>()) {}

  /// Moves every parameter that is not frozen against its gradient, and sets the gradients to 0.
  void step(double rate) {
    groups_.update();
    if (options_.clip_norm > 0 || norm_.skips()) groups_.zero_frozen_gradients(), norm_.compute();
    sgd(parameters_.device(), {.value = parameters_.values() + share_.first,
                               .gradient = parameters_.gradients() + share_.first,
                               .momentum = momentum_.data(),
                               .compute = parameters_.compute() + share_.first,
                               .count = share_.count,
                               .squares = norm_.squares(),
                               .options = options_,
                               .rate = rate,
                               .step = ++steps_,
                               .left_out = norm_.left_out(),
                               .factors = groups_.data()});
    if (share_.bring_together) share_.bring_together();
  }

  Index steps() const { return steps_; }
  const SgdOptions& options() const { return options_; }
  std::optional<double> gradient_norm() const { return norm_.read(); }  // before clipping, if it clips
  void set_bad_numbers(BadNumbers what) { norm_.set_bad_numbers(what); }
  BadSteps take_bad_steps() { return norm_.take_bad_steps(); }

  // Its state, for checkpoints.
  template <class Visit>
  void for_each_state(const Visit& visit) {
    if (options_.momentum > 0) visit("momentum", momentum_);
  }
  void set_steps(Index steps) { steps_ = steps; }

 private:
  Parameters<Device>& parameters_;
  UpdateShare<Device> share_;
  SgdOptions options_;
  Buffer<typename Device::Real, typename Device::Memory> momentum_;
  GradientNorm<Device> norm_;
  GroupTable<Device> groups_;
  Index steps_ = 0;
};

template <class Model>
explicit Sgd(Network<Model>&, SgdOptions = {}) -> Sgd<typename Model::DeviceType>;
template <class Model>
Sgd(Network<Model>&, SgdOptions, UpdateShare<typename Model::DeviceType>) -> Sgd<typename Model::DeviceType>;
template <class Model, class... Rest>
Sgd(const Network<Model>&, detail::UnknownSgdOption, const Rest&...) -> Sgd<typename Model::DeviceType>;
template <class Model, std::convertible_to<double> Rate>
Sgd(const Network<Model>&, Rate) -> Sgd<typename Model::DeviceType>;

}  // namespace attn
