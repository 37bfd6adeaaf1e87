#pragma once
#include <concepts>
#include <cstdint>

#include "attn/core/parameters.hpp"

namespace attn {

/// What a Network is told of its model at run time; models without options are told nothing.
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

namespace detail {

/// Stands where a model's options are missing; one sentence instead of a list of constructors.
template <class Model>
const typename OptionsOf<Model>::Type& missing_options() {
  static_assert(std::default_initializable<Model>,
                "attn: Network: this model needs options:  Network<Model> network(device, {...}, seed)");
  fail("Network: this model needs options");
}

}  // namespace detail

/// A model and its parameters, as one object: what is trained, saved and translated with.
///
///     Network<Model> network(device, {.source_vocabulary = 100, .target_vocabulary = 100}, 1);  // drawn from seed 1
///     Network<Model> loaded(device, {.source_vocabulary = 100, .target_vocabulary = 100}, Inference{});
///     network->loss(tape, batch);
///
/// A model names its device, `using DeviceType = Device`, and what its constructor takes, `using Options = ...`; one that is
/// constructed from nothing has no Options: Network<Model> network(device, 1).
template <class Model>
class Network {
 public:
  static_assert(
      requires { typename Model::DeviceType; },
      "attn: Network: a model says which device it runs on:  using DeviceType = Device;");
  using Device = typename Model::DeviceType;
  static_assert(
      requires(Model & model, ParameterWalk<Device>& visit) { model.for_each_parameter(visit); },
      "attn: Network: a model names its layers and parameters:  void for_each_parameter(auto&& visit) { "
      "visit(\"weight\", weight); }");
  using Options = typename OptionsOf<Model>::Type;

  /// A model to train: its numbers are drawn from the seed, its gradients have memory.
  Network(Device& device, const Options& options, std::uint64_t seed) : model(options), parameters(device, model, seed) {}
  Network(Device& device, std::uint64_t seed) requires std::default_initializable<Model>
      : model(), parameters(device, model, seed) {}
  template <class M = Model>
  requires(!std::default_initializable<M>) Network(Device& device, std::uint64_t seed)
      : Network(device, detail::missing_options<M>(), seed) {}

  /// The same, after prepare(model): to change how some of its parameters are drawn.
  template <std::invocable<Model&> Prepare>
  Network(Device& device, const Options& options, std::uint64_t seed, const Prepare& prepare)
      : model(options), parameters(device, (prepare(model), model), seed) {}

  /// A model that is only used: it has no gradients, and its numbers are 0 until they are loaded.
  Network(Device& device, const Options& options, Inference inference)
      : model(options), parameters(device, model, inference) {}
  Network(Device& device, Inference inference) requires std::default_initializable<Model>
      : model(), parameters(device, model, inference) {}
  template <class M = Model>
  requires(!std::default_initializable<M>) Network(Device& device, Inference inference)
      : Network(device, detail::missing_options<M>(), inference) {}

  Network(const Network&) = delete;  // its model's parameters point into its memory
  Network& operator=(const Network&) = delete;

  Model* operator->() { return &model; }
  const Model* operator->() const { return &model; }
  Model& operator*() { return model; }
  const Model& operator*() const { return model; }
  Device& device() const { return parameters.device(); }

  /// Learning-rate factors, weight decay and freezing for parts of the model, which are given by name or as a layer:
  ///
  ///     network.group("encoder", {.rate = 0.1});
  ///     network.freeze("decoder.layers.*.norm");
  ///     network.freeze(network->encoder);
  ///
  /// See Parameters and core/parameter_groups.hpp.
  template <class Which>
  void group(const Which& which, const GroupOptions& options) {
    parameters.group(which, options);
  }
  template <class Which>
  void freeze(const Which& which) {
    parameters.freeze(which);
  }
  template <class Which>
  void unfreeze(const Which& which) {
    parameters.unfreeze(which);
  }

  Model model;
  Parameters<Device> parameters;
};

}  // namespace attn
