#pragma once
#include <array>
#include <concepts>
#include <functional>
#include <optional>
#include <utility>

#include "attn/core/network.hpp"
#include "attn/ops/optimisers.hpp"
#include "attn/optim/check_options.hpp"
#include "attn/optim/gradient_norm.hpp"
#include "attn/optim/group_table.hpp"
#include "attn/optim/unknown_option.hpp"
#include "attn/optim/update_share.hpp"

namespace attn {

/// The number of values that an optimiser stores for each parameter.
inline std::size_t state_count(const AdamOptions& options) { return options.amsgrad ? 3 : 2; }
inline std::size_t state_count(const SgdOptions& options) { return options.momentum > 0 ? 1 : 0; }

/// The common part of optimisers: one pass over a share of the flat buffers, with parameter groups and clipping by the global
/// norm.
template <class Device>
class OptimiserBase {
 public:
  using Real = typename Device::Real;

  Index steps() const { return steps_; }
  void set_steps(Index steps) { steps_ = steps; }
  std::optional<double> gradient_norm() const { return norm_.read(); }  // before clipping, if it clips
  void set_non_finite(NonFinite policy) { norm_.set_non_finite(policy); }
  SkippedSteps take_skipped_steps() { return norm_.take_skipped_steps(); }

 protected:
  using Decay = typename GroupTable<Device>::Decay;

  OptimiserBase(Parameters<Device>& parameters, UpdateShare<Device> share, std::function<Decay(std::size_t entry)> decay)
      : parameters_(parameters),
        share_(std::move(share)),
        norm_(parameters, share_),
        groups_(parameters, share_, std::move(decay)) {}

  void allocate_states(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) states_[i] = optimiser_state(parameters_, share_.count);
  }

  /// Makes a step: update(left_out) updates the share.
  void make_step(double clip_norm, const auto& update) {
    groups_.update();
    parameters_.begin_step();
    ++steps_;
    if (clip_norm > 0 || norm_.skips()) groups_.zero_frozen_gradients(), norm_.compute();
    update(norm_.left_out());
    if (share_.gather_values) share_.gather_values();
  }

  /// Updates `count` numbers from `first` on.
  void update(const AdamOptions& options, Index first, Index count, double rate, LeftOut<Real> left_out) {
    adam(parameters_.device(), {.value = parameters_.values() + first,
                                .gradient = parameters_.step_gradients() + first,
                                .m = state(0, first),
                                .v = state(1, first),
                                .largest_v = options.amsgrad ? state(2, first) : nullptr,
                                .compute = parameters_.compute() + first,
                                .count = count,
                                .squares = norm_.squares(),
                                .options = options,
                                .rate = rate,
                                .step = steps_,
                                .left_out = left_out,
                                .factors = factors(first)});
  }
  void update(const SgdOptions& options, Index first, Index count, double rate, LeftOut<Real> left_out) {
    sgd(parameters_.device(), {.value = parameters_.values() + first,
                               .gradient = parameters_.step_gradients() + first,
                               .momentum = options.momentum > 0 ? state(0, first) : nullptr,
                               .compute = parameters_.compute() + first,
                               .count = count,
                               .squares = norm_.squares(),
                               .options = options,
                               .rate = rate,
                               .step = steps_,
                               .left_out = left_out,
                               .factors = factors(first)});
  }

  Parameters<Device>& parameters_;
  UpdateShare<Device> share_;
  GradientNorm<Device> norm_;
  std::array<Buffer<Real, typename Device::Memory>, 3> states_;  // of the share

 private:
  Real* state(std::size_t i, Index first) { return states_[i].data() + (first - share_.first); }
  const UpdateFactors<Real>* factors(Index first) const {
    const UpdateFactors<Real>* table = groups_.data();
    return table == nullptr ? nullptr : table + (first - share_.first) / kParameterBlock;
  }

  GroupTable<Device> groups_;
  Index steps_ = 0;
};

/// An optimiser with the same options for all parameters.
template <class Device, class Options>
class SingleOptimiser : public OptimiserBase<Device> {
 public:
  explicit SingleOptimiser(Parameters<Device>& parameters, Options options = {})
      : SingleOptimiser(parameters, options, UpdateShare<Device>::all(parameters)) {}
  /// Updates a part of the parameters.
  SingleOptimiser(Parameters<Device>& parameters, Options options, UpdateShare<Device> share)
      : OptimiserBase<Device>(parameters, std::move(share),
                              [decay = Decay{options.weight_decay, options.decay_vectors}](std::size_t) { return decay; }),
        options_(options) {
    check_options(options);
    this->allocate_states(state_count(options));
  }
  template <class Model>
  explicit SingleOptimiser(Network<Model>& network, Options options = {}) : SingleOptimiser(network.parameters, options) {}
  template <class Model>
  SingleOptimiser(Network<Model>& network, Options options, UpdateShare<Device> share)
      : SingleOptimiser(network.parameters, options, std::move(share)) {}

  // Misspelt options, and a learning rate in the place of the options.
  template <class Model, class... Rest>
  SingleOptimiser(const Network<Model>&, detail::UnknownOption, const Rest&...)
      : SingleOptimiser(detail::refuse_option<SingleOptimiser, Model>()) {}
  template <class Model, std::convertible_to<double> Rate>
  SingleOptimiser(const Network<Model>&, Rate) : SingleOptimiser(detail::refuse_option<SingleOptimiser, Model>()) {}

  /// Updates all parameters that are not frozen, and sets the gradients to 0.
  void step(double rate) {
    this->make_step(options_.clip_norm, [&](LeftOut<typename Device::Real> left_out) {
      this->update(options_, this->share_.first, this->share_.count, rate, left_out);
    });
  }
  const Options& options() const { return options_; }

 protected:
  /// Calls visit(name, numbers) for each state, with these names.
  void visit_states(const std::array<const char*, 3>& names, const auto& visit) {
    for (std::size_t i = 0; i < state_count(options_); ++i) visit(names[i], this->states_[i]);
  }

 private:
  using Decay = typename OptimiserBase<Device>::Decay;
  Options options_;
};

}  // namespace attn
