#pragma once
#include "attn/core/network.hpp"
#include "attn/ops/sgd.hpp"
#include "attn/optim/gradient_norm.hpp"
#include "attn/optim/optimiser.hpp"

namespace attn {

/// Stochastic gradient descent over all parameters of a model, with momentum, Nesterov's or the plain one, weight decay, and
/// clipping by the global norm: one pass over the flat buffers. torch.optim.SGD.
template <class Device>
class Sgd {
 public:
  static constexpr const char* name = "sgd";

  explicit Sgd(Parameters<Device>& parameters, SgdOptions options = {})
      : parameters_(parameters),
        options_(options),
        momentum_(optimiser_state(parameters, options.momentum > 0 ? parameters.size() : 0)),
        norm_(parameters) {
    require(options.momentum >= 0 && options.momentum < 1, "Sgd: a momentum of ", options.momentum, " is not in [0, 1)");
    require(!options.nesterov || options.momentum > 0, "Sgd: Nesterov's momentum needs a momentum; give one above 0");
  }
  template <class Model>
  explicit Sgd(Network<Model>& network, SgdOptions options = {}) : Sgd(network.parameters, options) {}

  /// Moves every parameter against its gradient, and sets the gradients to 0.
  void step(double rate) {
    if (options_.clip_norm > 0) norm_.compute();
    sgd(parameters_.device(), {.value = parameters_.values(),
                               .gradient = parameters_.gradients(),
                               .momentum = momentum_.data(),
                               .compute = parameters_.compute(),
                               .count = parameters_.size(),
                               .squares = norm_.squares(),
                               .options = options_,
                               .rate = rate});
    ++steps_;
  }

  Index steps() const { return steps_; }
  const SgdOptions& options() const { return options_; }
  std::optional<double> gradient_norm() const { return norm_.read(); }  // before clipping, if it clips

  // Its state, for checkpoints.
  template <class Visit>
  void for_each_state(const Visit& visit) {
    if (options_.momentum > 0) visit("momentum", momentum_);
  }
  void set_steps(Index steps) { steps_ = steps; }

 private:
  Parameters<Device>& parameters_;
  SgdOptions options_;
  Buffer<typename Device::Real, typename Device::Memory> momentum_;
  GradientNorm<Device> norm_;
  Index steps_ = 0;
};

template <class Model>
explicit Sgd(Network<Model>&, SgdOptions = {}) -> Sgd<typename Model::DeviceType>;

}  // namespace attn
