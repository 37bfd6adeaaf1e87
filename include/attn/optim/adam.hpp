#pragma once
#include "attn/core/network.hpp"
#include "attn/ops/adam.hpp"
#include "attn/optim/gradient_norm.hpp"
#include "attn/optim/optimiser.hpp"

namespace attn {

/// Adam, AdamW or AMSGrad over all parameters of a model, with clipping by the global norm: one pass over the flat buffers.
/// torch.optim.Adam, torch.optim.AdamW.
template <class Device>
class Adam {
 public:
  static constexpr const char* name = "adam";

  explicit Adam(Parameters<Device>& parameters, AdamOptions options = {})
      : parameters_(parameters),
        options_(options),
        m_(optimiser_state(parameters, parameters.size())),
        v_(optimiser_state(parameters, parameters.size())),
        largest_v_(optimiser_state(parameters, options.amsgrad ? parameters.size() : 0)),
        norm_(parameters) {}
  template <class Model>
  explicit Adam(Network<Model>& network, AdamOptions options = {}) : Adam(network.parameters, options) {}

  /// Moves every parameter against its gradient, and sets the gradients to 0.
  void step(double rate) {
    if (options_.clip_norm > 0) norm_.compute();
    adam(parameters_.device(), {.value = parameters_.values(),
                                .gradient = parameters_.gradients(),
                                .m = m_.data(),
                                .v = v_.data(),
                                .largest_v = largest_v_.data(),
                                .compute = parameters_.compute(),
                                .count = parameters_.size(),
                                .squares = norm_.squares(),
                                .options = options_,
                                .rate = rate,
                                .step = ++steps_});
  }

  Index steps() const { return steps_; }
  const AdamOptions& options() const { return options_; }
  std::optional<double> gradient_norm() const { return norm_.read(); }  // before clipping, if it clips

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
  AdamOptions options_;
  Buffer<typename Device::Real, typename Device::Memory> m_, v_, largest_v_;
  GradientNorm<Device> norm_;
  Index steps_ = 0;
};

template <class Model>
explicit Adam(Network<Model>&, AdamOptions = {}) -> Adam<typename Model::DeviceType>;

}  // namespace attn
