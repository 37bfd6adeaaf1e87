#pragma once
#include "attn/optim/optimiser_base.hpp"

namespace attn {

/// Stochastic gradient descent over all parameters of a model, with plain or Nesterov momentum, weight decay, and
/// clipping by the global norm: one pass over the flat buffers. torch.optim.SGD. Groups and frozen parameters
/// (Parameters::group, freeze) may change between steps. Weight decay skips vectors, that is biases and norms, unless
/// SgdOptions::decay_vectors is set.
template <class Device>
class Sgd : public SingleOptimiser<Device, SgdOptions> {
 public:
  static constexpr const char* name = "sgd";
  using SingleOptimiser<Device, SgdOptions>::SingleOptimiser;

  void for_each_state(const auto& visit) { this->visit_states({"momentum"}, visit); }
};

template <class Device>
explicit Sgd(Parameters<Device>&, SgdOptions = {}, UpdateShare<Device> = {}) -> Sgd<Device>;
template <class Model>
explicit Sgd(Network<Model>&, SgdOptions = {}, UpdateShare<typename Model::DeviceType> = {})
    -> Sgd<typename Model::DeviceType>;
template <class Model, class... Rest>
Sgd(const Network<Model>&, detail::UnknownOption, const Rest&...) -> Sgd<typename Model::DeviceType>;
template <class Model, std::convertible_to<double> Rate>
Sgd(const Network<Model>&, Rate) -> Sgd<typename Model::DeviceType>;

}  // namespace attn
