#pragma once
#include "attn/core/parameters.hpp"

namespace attn {

/// The type of a model's options, or an empty type for a model without options.
template <class Model>
struct OptionsOf {
  struct None {};
  using Type = None;
};
template <class Model>
requires requires { typename Model::Options; }
struct OptionsOf<Model> {
  using Type = typename Model::Options;
};

/// A model and its parameters in one object, for training, saving and translation.
///
///     Network<Model> network(device, {.source_vocabulary = 100, .target_vocabulary = 100}, 1);  // drawn from seed 1
///     Network<Model> loaded(device, {.source_vocabulary = 100, .target_vocabulary = 100}, Inference{});
///     network->loss(tape, batch);
///
/// A model declares its device, `using DeviceType = Device`, and its constructor's argument, `using Options = ...`. A
/// default-constructible model has no Options: Network<Model> network(device, 1).
template <class Model>
class Network {
 public:
  static_assert(
      requires { typename Model::DeviceType; }, "attn: Network: a model needs  using DeviceType = Device;");
  using Device = typename Model::DeviceType;
  static_assert(
      requires(Model & model, ParameterWalk<Device>& visit) { model.for_each_parameter(visit); },
      "attn: Network: a model needs  void for_each_parameter(auto&& visit) { visit(\"weight\", weight); }");
  using Options = typename OptionsOf<Model>::Type;

  /// Draws the initial values from the seed and allocates gradients. With Inference{} instead of a seed, there are no
  /// gradients, and all values are 0 until they are loaded.
  Network(Device& device, const Options& options, const SeedOrInference auto& seed)
      : model(options), parameters(device, model, seed) {}
  Network(Device& device, const SeedOrInference auto& seed) : model(without_options()), parameters(device, model, seed) {}

  /// Calls prepare(model) before drawing the values, for example to change some initializers.
  template <std::invocable<Model&> Prepare>
  Network(Device& device, const Options& options, std::uint64_t seed, const Prepare& prepare)
      : model(options), parameters(device, (prepare(model), model), seed) {}

  Network(const Network&) = delete;  // the model's parameters point into this object's memory
  Network& operator=(const Network&) = delete;

  Model* operator->() { return &model; }
  const Model* operator->() const { return &model; }
  Model& operator*() { return model; }
  const Model& operator*() const { return model; }
  Device& device() const { return parameters.device(); }

  /// Learning-rate factors, weight decay and freezing for parts of the model, selected by name or by layer:
  ///
  ///     network.group("encoder", {.rate = 0.1});
  ///     network.freeze("decoder.layers.*.norm");
  ///     network.freeze(network->encoder);
  ///
  /// See Parameters and core/parameter_groups.hpp.
  void group(const auto& which, const GroupOptions& options) { parameters.group(which, options); }
  void freeze(const auto& which) { parameters.freeze(which); }
  void unfreeze(const auto& which) { parameters.unfreeze(which); }

  Model model;
  Parameters<Device> parameters;

 private:
  static Model without_options() {
    static_assert(std::default_initializable<Model>,
                  "attn: Network: this model needs options:  Network<Model> network(device, {...}, seed)");
    if constexpr (std::default_initializable<Model>) return Model();
  }
};

/// The parameters of a network, or the argument itself: for functions that accept a network or its parameters.
auto& parameters_of(auto& network) {
  if constexpr (requires { network.parameters; })
    return network.parameters;
  else
    return network;
}

}  // namespace attn
