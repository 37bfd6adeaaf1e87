#pragma once
#include "attn/optim/optimiser_base.hpp"

namespace attn {

/// Adam, AdamW or AMSGrad over all parameters of a model, with clipping by the global norm: one pass over the flat buffers.
/// torch.optim.Adam, torch.optim.AdamW. Groups and frozen parameters (Parameters::group, freeze) may change between steps.
/// Weight decay skips vectors, that is biases and norms, unless AdamOptions::decay_vectors is set.
template <class Device>
class Adam : public SingleOptimiser<Device, AdamOptions> {
 public:
  static constexpr const char* name = "adam";
  using SingleOptimiser<Device, AdamOptions>::SingleOptimiser;

  void for_each_state(const auto& visit) { this->visit_states({"m", "v", "largest_v"}, visit); }
};

template <class Device>
explicit Adam(Parameters<Device>&, AdamOptions = {}, UpdateShare<Device> = {}) -> Adam<Device>;
template <class Model>
explicit Adam(Network<Model>&, AdamOptions = {}, UpdateShare<typename Model::DeviceType> = {})
    -> Adam<typename Model::DeviceType>;
template <class Model, class... Rest>
Adam(const Network<Model>&, detail::UnknownOption, const Rest&...) -> Adam<typename Model::DeviceType>;
template <class Model, std::convertible_to<double> Rate>
Adam(const Network<Model>&, Rate) -> Adam<typename Model::DeviceType>;

}  // namespace attn
