#pragma once
#include <concepts>
#include <utility>

#include "attn/core/network.hpp"
#include "attn/ops/adam.hpp"
#include "attn/optim/check_options.hpp"
#include "attn/optim/gradient_norm.hpp"
#include "attn/optim/group_table.hpp"
#include "attn/optim/optimiser.hpp"
#include "attn/optim/unknown_option.hpp"
#include "attn/optim/update_share.hpp"

namespace attn {

/// Adam, AdamW or AMSGrad over all parameters of a model, with clipping by the global norm: one pass over the flat buffers.
/// torch.optim.Adam, torch.optim.AdamW. Groups and frozen parameters (Parameters::group, freeze) may change between steps.
/// Weight decay skips vectors, that is biases and norms, unless AdamOptions::decay_vectors is set.
template <class Device>
class Adam {
 public:
  static constexpr const char* name = "adam";

  explicit Adam(Parameters<Device>& parameters, AdamOptions options = {})
      : Adam(parameters, options, UpdateShare<Device>::all(parameters)) {}
  /// Of a part of the parameters.
  Adam(Parameters<Device>& parameters, AdamOptions options, UpdateShare<Device> share)
      : parameters_(parameters),
        share_(std::move(share)),
        options_(options),
        m_(optimiser_state(parameters, share_.count)),
        v_(optimiser_state(parameters, share_.count)),
        largest_v_(optimiser_state(parameters, options.amsgrad ? share_.count : 0)),
        norm_(parameters, share_),
        groups_(parameters, share_, typename GroupTable<Device>::Decay{options.weight_decay, options.decay_vectors}) {
    check_options(options);
  }
  template <class Model>
  explicit Adam(Network<Model>& network, AdamOptions options = {}) : Adam(network.parameters, options) {}
  template <class Model>
  Adam(Network<Model>& network, AdamOptions options, UpdateShare<Device> share)
      : Adam(network.parameters, options, std::move(share)) {}

  // Misspelt options, and a learning rate in the place of the options.
  template <class Model, class... Rest>
  Adam(const Network<Model>&, detail::UnknownAdamOption, const Rest&...)
      : Adam(detail::refuse_adam_option<Adam, Model>()) {}
  template <class Model, std::convertible_to<double> Rate>
  Adam(const Network<Model>&, Rate) : Adam(detail::refuse_adam_option<Adam, Model>()) {}

  /// Moves every parameter that is not frozen against its gradient, and sets the gradients to 0.
  void step(double rate) {
    groups_.update();
    if (options_.clip_norm > 0 || norm_.skips()) groups_.zero_frozen_gradients(), norm_.compute();
    adam(parameters_.device(), {.value = parameters_.values() + share_.first,
                                .gradient = parameters_.gradients() + share_.first,
                                .m = m_.data(),
                                .v = v_.data(),
                                .largest_v = largest_v_.data(),
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
  const AdamOptions& options() const { return options_; }
  std::optional<double> gradient_norm() const { return norm_.read(); }  // before clipping, if it clips
  void set_bad_numbers(BadNumbers what) { norm_.set_bad_numbers(what); }
  BadSteps take_bad_steps() { return norm_.take_bad_steps(); }

  // Its state, for checkpoints: visit(name, numbers) for each flat buffer, and how many steps it has made.
  template <class Visit>
  void for_each_state(const Visit& visit) {
    visit("m", m_);
    visit("v", v_);
    if (options_.amsgrad) visit("largest_v", largest_v_);
  }
  void set_steps(Index steps) { steps_ = steps; }

 private:
  Parameters<Device>& parameters_;
  UpdateShare<Device> share_;
  AdamOptions options_;
  Buffer<typename Device::Real, typename Device::Memory> m_, v_, largest_v_;
  GradientNorm<Device> norm_;
  GroupTable<Device> groups_;
  Index steps_ = 0;
};

template <class Model>
explicit Adam(Network<Model>&, AdamOptions = {}) -> Adam<typename Model::DeviceType>;
template <class Model>
Adam(Network<Model>&, AdamOptions, UpdateShare<typename Model::DeviceType>) -> Adam<typename Model::DeviceType>;
template <class Model, class... Rest>
Adam(const Network<Model>&, detail::UnknownAdamOption, const Rest&...) -> Adam<typename Model::DeviceType>;
template <class Model, std::convertible_to<double> Rate>
Adam(const Network<Model>&, Rate) -> Adam<typename Model::DeviceType>;

}  // namespace attn
