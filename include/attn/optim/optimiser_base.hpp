#pragma once
#include "attn/core/network.hpp"
#include "attn/optim/gradient_norm.hpp"
#include "attn/optim/group_table.hpp"

namespace attn {

namespace detail {

struct AnyValue {
  AnyValue() = default;
  AnyValue(const auto&) {}
};

/// Options that optimisers do not have but users of other libraries expect. A designated initializer with an unknown name
/// fits no constructor, and the compiler lists all of them. With one of these names it fits the constructor that refuses
/// it in one sentence. The members of the real options are here as well, because a list may mix both. Valid lists prefer
/// the real constructor, because the other takes a const Network.
struct UnknownOption {
  AnyValue lr = {}, lrate = {}, learning_rate = {}, learningRate = {}, rate = {}, alpha = {}, params = {}, betas = {},
           b1 = {}, b2 = {}, beta_1 = {}, beta_2 = {}, beta = {}, eps = {}, eta = {}, mu = {};
  AnyValue beta1 = {}, beta2 = {}, epsilon = {}, momentum = {}, dampening = {}, nesterov = {};
  AnyValue wd = {}, l2 = {}, weightdecay = {}, decay_weight = {}, weight_decay = {}, decay = {}, decoupled = {},
           decoupled_weight_decay = {}, decay_bias = {}, decay_biases = {}, decay_vectors = {}, amsgrad = {}, maximize = {},
           fused = {};
  AnyValue clip = {}, clipping = {}, grad_clip = {}, gradient_clip = {}, clip_grad = {}, clip_grad_norm = {}, max_norm = {},
           max_grad_norm = {}, clipnorm = {}, clip_norm = {};
};

template <class Optim, class Argument>
Optim&& refuse_option() {
  static_assert(sizeof(Argument) == 0,
                "attn: no such option. AdamOptions has beta1, beta2, epsilon, weight_decay, decay, decay_vectors, amsgrad, "
                "clip_norm; SgdOptions has momentum, nesterov, weight_decay, decay_vectors, clip_norm. The learning rate "
                "comes from the Trainer's schedule, or step(rate).");
  fail("no such option");
}

}  // namespace detail

inline void check_options(const AdamOptions& options) {
  const auto in = [](double beta) { return beta >= 0 && beta < 1; };
  require(in(options.beta1) && in(options.beta2), "Adam: beta1 ", options.beta1, " and beta2 ", options.beta2,
          " must be in [0, 1)");
  require(options.epsilon >= 0 && options.weight_decay >= 0 && options.clip_norm >= 0, "Adam: epsilon ", options.epsilon,
          ", weight_decay ", options.weight_decay, " and clip_norm ", options.clip_norm, " must be 0 or more");
}

inline void check_options(const SgdOptions& options) {
  require(options.momentum >= 0 && options.momentum < 1, "Sgd: a momentum of ", options.momentum, " is not in [0, 1)");
  require(options.weight_decay >= 0 && options.clip_norm >= 0, "Sgd: weight_decay ", options.weight_decay,
          " and clip_norm ", options.clip_norm, " must be 0 or more");
  require(!options.nesterov || options.momentum > 0, "Sgd: nesterov needs a momentum above 0");
}

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

  OptimiserBase(Parameters<Device>& parameters, const UpdateShare<Device>& share,
                std::function<Decay(std::size_t entry)> decay)
      : parameters_(parameters),
        share_(share.of(parameters)),
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
  template <class Options>
  void update(const Options& options, Index first, Index count, double rate, LeftOut<Real> left_out) {
    constexpr bool kAdam = std::is_same_v<Options, AdamOptions>;
    std::conditional_t<kAdam, AdamArgs<Device>, SgdArgs<Device>> args{};
    args.value = parameters_.values() + first;
    args.gradient = parameters_.step_gradients() + first;
    args.compute = parameters_.compute() + first;
    args.count = count;
    args.squares = norm_.squares();
    args.options = options;
    args.rate = rate;
    args.step = steps_;
    args.left_out = left_out;
    args.factors = factors(first);
    if constexpr (kAdam) {
      args.m = state(0, first), args.v = state(1, first);
      args.largest_v = options.amsgrad ? state(2, first) : nullptr;
      adam(parameters_.device(), args);
    } else {
      args.momentum = options.momentum > 0 ? state(0, first) : nullptr;
      sgd(parameters_.device(), args);
    }
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
  explicit SingleOptimiser(Parameters<Device>& parameters, Options options = {}, UpdateShare<Device> share = {})
      : OptimiserBase<Device>(parameters, std::move(share),
                              [decay = Decay{options.weight_decay, options.decay_vectors}](std::size_t) { return decay; }),
        options_(options) {
    check_options(options);
    this->allocate_states(state_count(options));
  }
  template <class Model>
  explicit SingleOptimiser(Network<Model>& network, Options options = {}, UpdateShare<Device> share = {})
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
