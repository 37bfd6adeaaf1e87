#pragma once
#include <utility>

#include "attn/core/network.hpp"
#include "attn/ops/sgd.hpp"
#include "attn/optim/gradient_norm.hpp"
#include "attn/optim/optimiser.hpp"
#include "attn/optim/update_share.hpp"

namespace attn {

/// Stochastic gradient descent over all parameters of a model, with momentum, Nesterov's or the plain one, weight decay, and
/// clipping by the global norm: one pass over the flat buffers. torch.optim.SGD.
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
        norm_(parameters, share_) {
    require(options.momentum >= 0 && options.momentum < 1, "Sgd: a momentum of ", options.momentum, " is not in [0, 1)");
    require(options.weight_decay >= 0 && options.clip_norm >= 0, "Sgd: weight_decay ", options.weight_decay,
            " and clip_norm ", options.clip_norm, " must be 0 or more");
    require(!options.nesterov || options.momentum > 0, "Sgd: Nesterov's momentum needs a momentum; give one above 0");
  }
  template <class Model>
  explicit Sgd(Network<Model>& network, SgdOptions options = {}) : Sgd(network.parameters, options) {}
  template <class Model>
  Sgd(Network<Model>& network, SgdOptions options, UpdateShare<Device> share)
      : Sgd(network.parameters, options, std::move(share)) {}

  /// Moves every parameter against its gradient, and sets the gradients to 0.
  void step(double rate) {
    if (options_.clip_norm > 0 || norm_.skips()) norm_.compute();
    sgd(parameters_.device(), {.value = parameters_.values() + share_.first,
                               .gradient = parameters_.gradients() + share_.first,
                               .momentum = momentum_.data(),
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
  Index steps_ = 0;
};

template <class Model>
explicit Sgd(Network<Model>&, SgdOptions = {}) -> Sgd<typename Model::DeviceType>;
template <class Model>
Sgd(Network<Model>&, SgdOptions, UpdateShare<typename Model::DeviceType>) -> Sgd<typename Model::DeviceType>;

}  // namespace attn
