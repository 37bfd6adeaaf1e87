#pragma once
#include <utility>

#include "attn/core/network.hpp"
#include "attn/ops/adam.hpp"
#include "attn/optim/gradient_norm.hpp"
#include "attn/optim/optimiser.hpp"
#include "attn/optim/update_share.hpp"

namespace attn {

/// Adam, AdamW or AMSGrad over all parameters of a model, with clipping by the global norm: one pass over the flat buffers.
/// torch.optim.Adam, torch.optim.AdamW.
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
        norm_(parameters, share_) {
    const auto in = [](double beta) { return beta >= 0 && beta < 1; };
    require(in(options.beta1) && in(options.beta2), "Adam: beta1 ", options.beta1, " and beta2 ", options.beta2,
            " must be in [0, 1)");
    require(options.epsilon >= 0 && options.weight_decay >= 0 && options.clip_norm >= 0, "Adam: epsilon ", options.epsilon,
            ", weight_decay ", options.weight_decay, " and clip_norm ", options.clip_norm, " must be 0 or more");
  }
  template <class Model>
  explicit Adam(Network<Model>& network, AdamOptions options = {}) : Adam(network.parameters, options) {}
  template <class Model>
  Adam(Network<Model>& network, AdamOptions options, UpdateShare<Device> share)
      : Adam(network.parameters, options, std::move(share)) {}

  /// Moves every parameter against its gradient, and sets the gradients to 0.
  void step(double rate) {
    if (options_.clip_norm > 0 || norm_.skips()) norm_.compute();
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
                                .left_out = norm_.left_out()});
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
  Index steps_ = 0;
};

template <class Model>
explicit Adam(Network<Model>&, AdamOptions = {}) -> Adam<typename Model::DeviceType>;
template <class Model>
Adam(Network<Model>&, AdamOptions, UpdateShare<typename Model::DeviceType>) -> Adam<typename Model::DeviceType>;

}  // namespace attn
