#pragma once
#include "attn/core/network.hpp"
#include "attn/ops/adam.hpp"

namespace attn {

/// Adam, AdamW or AMSGrad over all parameters of a model, with clipping by the global norm: one pass over the flat buffers.
/// torch.optim.Adam, torch.optim.AdamW.
template <class Device>
class Adam {
 public:
  using Real = typename Device::Real;
  using Numbers = Buffer<Real, typename Device::Memory>;

  explicit Adam(Parameters<Device>& parameters, AdamOptions options = {})
      : parameters_(parameters),
        options_(options),
        m_(zeros(parameters.size())),
        v_(zeros(parameters.size())),
        largest_v_(zeros(options.amsgrad ? parameters.size() : 0)),
        squares_(zeros(1)) {
    parameters.gradients();  // an error if there are none
  }
  template <class Model>
  explicit Adam(Network<Model>& network, AdamOptions options = {}) : Adam(network.parameters, options) {}

  /// Moves every parameter against its gradient, and sets the gradients to 0.
  void step(double rate) {
    Device& device = parameters_.device();
    if (options_.clip_norm > 0)
      sum_of_squares(device, {.x = parameters_.gradients(), .count = parameters_.size(), .total = squares_.data()});
    adam(device, {.value = parameters_.values(),
                  .gradient = parameters_.gradients(),
                  .m = m_.data(),
                  .v = v_.data(),
                  .largest_v = largest_v_.data(),
                  .compute = parameters_.compute(),
                  .count = parameters_.size(),
                  .squares = squares_.data(),
                  .options = options_,
                  .rate = rate,
                  .step = ++steps_});
  }

  Index steps() const { return steps_; }
  const AdamOptions& options() const { return options_; }

  // Its state, for checkpoints: visit(name, numbers) for each flat buffer, and how many steps it has made.
  template <class Visit>
  void for_each_state(const Visit& visit) {
    visit("m", m_);
    visit("v", v_);
    if (options_.amsgrad) visit("largest_v", largest_v_);
  }
  void set_steps(Index steps) { steps_ = steps; }

 private:
  Numbers zeros(Index count) {
    Numbers numbers(count, "optimiser states");
    parameters_.device().zero(numbers.data(), count);
    return numbers;
  }

  Parameters<Device>& parameters_;
  AdamOptions options_;
  Numbers m_, v_, largest_v_, squares_;
  Index steps_ = 0;
};

template <class Model>
explicit Adam(Network<Model>&, AdamOptions = {}) -> Adam<typename Model::DeviceType>;

}  // namespace attn
