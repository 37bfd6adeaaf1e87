#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/network.hpp"
#include "attn/ops/adam.hpp"
#include "attn/ops/sgd.hpp"
#include "attn/optim/check_options.hpp"
#include "attn/optim/gradient_norm.hpp"
#include "attn/optim/group_table.hpp"
#include "attn/optim/optimiser.hpp"
#include "attn/optim/update_share.hpp"

namespace attn {

/// Which optimiser updates the parameters that a name selects (core/parameter_groups.hpp). "*" selects all.
struct OptimiserRule {
  std::string name;
  std::variant<AdamOptions, SgdOptions> options;
};

struct GroupedOptions {
  double clip_norm = 0;  // of all gradients together; 0: no clipping
};

/// Different optimisers for different parameters: usable wherever Adam is. Later rules override earlier ones, and every
/// parameter must have one.
///
///     Grouped optimiser(network, {{"*", AdamOptions{.weight_decay = 0.01}}, {"embedding", SgdOptions{.momentum = 0.9}}},
///                       {.clip_norm = 1});
///     network.group("embedding", {.rate = 100});  // SGD takes larger steps
///
/// All rules share one schedule and one gradient norm. Their states are in common buffers of the size of the flat buffer of
/// values, each in the ranges it updates, so Adam and SGD together take no more memory than Adam alone.
template <class Device>
class Grouped {
 public:
  static constexpr const char* name = "grouped";
  using Real = typename Device::Real;

  Grouped(Parameters<Device>& parameters, std::vector<OptimiserRule> rules, GroupedOptions options = {})
      : Grouped(parameters, std::move(rules), options, UpdateShare<Device>::all(parameters)) {}
  /// Of a part of the parameters.
  Grouped(Parameters<Device>& parameters, std::vector<OptimiserRule> rules, GroupedOptions options,
          UpdateShare<Device> share)
      : parameters_(parameters),
        share_(std::move(share)),
        rules_(std::move(rules)),
        options_(options),
        rule_of_(assign_rules()),
        norm_(parameters, share_),
        already_noted_(optimiser_state(parameters, 2)),
        groups_(parameters, share_, [this](std::size_t entry) { return decay_of(rules_[rule_of_[entry]]); }) {
    require(options_.clip_norm >= 0, "Grouped: clip_norm ", options_.clip_norm, " must be 0 or more");
    std::size_t states = 0;
    for (OptimiserRule& rule : rules_) states = std::max(states, prepare(rule));
    for (std::size_t i = 0; i < states; ++i) states_[i] = optimiser_state(parameters, share_.count);
    find_ranges();
  }
  template <class Model>
  Grouped(Network<Model>& network, std::vector<OptimiserRule> rules, GroupedOptions options = {})
      : Grouped(network.parameters, std::move(rules), options) {}
  template <class Model>
  Grouped(Network<Model>& network, std::vector<OptimiserRule> rules, GroupedOptions options, UpdateShare<Device> share)
      : Grouped(network.parameters, std::move(rules), options, std::move(share)) {}
  Grouped(const Grouped&) = delete;  // its table refers to it

  /// Moves every parameter that is not frozen against its gradient, and sets the gradients to 0.
  void step(double rate) {
    ++steps_;
    groups_.update();
    if (options_.clip_norm > 0 || norm_.skips()) groups_.zero_frozen_gradients(), norm_.compute();
    LeftOut<Real> left_out = norm_.left_out();
    for (const Range& range : ranges_) {
      std::visit([&](const auto& options) { update(range, options, rate, left_out); }, rules_[range.rule].options);
      if (left_out.noted != nullptr) left_out.noted = already_noted_.data();  // one step counts once
    }
    if (share_.bring_together) share_.bring_together();
  }

  Index steps() const { return steps_; }
  std::optional<double> gradient_norm() const { return norm_.read(); }  // before clipping, if it clips
  void set_bad_numbers(BadNumbers what) { norm_.set_bad_numbers(what); }
  BadSteps take_bad_steps() { return norm_.take_bad_steps(); }

  /// "*: adam, embedding: sgd". A checkpoint is resumed with the rules that it was saved with.
  std::string rules() const {
    std::string text;
    for (const OptimiserRule& rule : rules_)
      text.append(text.empty() ? "" : ", ").append(rule.name).append(rule.options.index() == 0 ? ": adam" : ": sgd");
    return text;
  }

  // Its state, for checkpoints. "first" holds Adam's m and the momentum of SGD, "second" Adam's v, "third" the largest v.
  template <class Visit>
  void for_each_state(const Visit& visit) {
    constexpr std::array names{"first", "second", "third"};
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (states_[i].size() > 0) visit(names[i], states_[i]);
  }
  void set_steps(Index steps) { steps_ = steps; }

 private:
  /// Consecutive numbers of the flat buffers with one rule.
  struct Range {
    Index first, count;
    std::size_t rule;
  };

  std::vector<std::size_t> assign_rules() const {
    constexpr auto kNone = static_cast<std::size_t>(-1);
    std::vector<std::size_t> rule_of(parameters_.entries().size(), kNone);
    for (std::size_t rule = 0; rule < rules_.size(); ++rule) {
      const auto entries = parameters_.entries_named(rules_[rule].name);
      require(!entries.empty(), "Grouped: '", rules_[rule].name,
              "' selects only tied parameters; the rule of the parameter that owns their values applies");
      for (const std::size_t entry : entries) rule_of[entry] = rule;
    }
    for (std::size_t entry = 0; entry < rule_of.size(); ++entry)
      require(rule_of[entry] != kNone, "Grouped: no rule selects '", parameters_.entries()[entry].name,
              "'; add a first rule \"*\" for all parameters without another");
    return rule_of;
  }

  /// Checks a rule, gives it the common clipping, and returns how many states it has.
  std::size_t prepare(OptimiserRule& rule) const {
    return std::visit(
        [&]<class Options>(Options& options) -> std::size_t {
          require(options.clip_norm == 0, "Grouped: '", rule.name,
                  "' has a clip_norm of its own; gradients are clipped by ",
                  "the norm of all of them: use GroupedOptions::clip_norm");
          check_options(options);
          options.clip_norm = options_.clip_norm;
          if constexpr (std::is_same_v<Options, AdamOptions>)
            return options.amsgrad ? 3 : 2;
          else
            return options.momentum > 0 ? 1 : 0;
        },
        rule.options);
  }
  static typename GroupTable<Device>::Decay decay_of(const OptimiserRule& rule) {
    return std::visit(
        [](const auto& options) -> typename GroupTable<Device>::Decay {
          return {options.weight_decay, options.decay_vectors};
        },
        rule.options);
  }

  void find_ranges() {
    for (std::size_t i = 0; i < rule_of_.size(); ++i) {
      const auto& entry = parameters_.entries()[i];
      const Index first = std::max(share_.first, entry.offset),
                  last = std::min(share_.first + share_.count, entry.offset + padded_size(entry.size()));
      if (first >= last) continue;
      if (!ranges_.empty() && ranges_.back().rule == rule_of_[i])
        ranges_.back().count = last - ranges_.back().first;
      else
        ranges_.push_back({first, last - first, rule_of_[i]});
    }
  }

  void update(const Range& range, const AdamOptions& options, double rate, LeftOut<Real> left_out) {
    adam(parameters_.device(), {.value = parameters_.values() + range.first,
                                .gradient = parameters_.gradients() + range.first,
                                .m = state(0, range),
                                .v = state(1, range),
                                .largest_v = options.amsgrad ? state(2, range) : nullptr,
                                .compute = parameters_.compute() + range.first,
                                .count = range.count,
                                .squares = norm_.squares(),
                                .options = options,
                                .rate = rate,
                                .step = steps_,
                                .left_out = left_out,
                                .factors = factors(range)});
  }
  void update(const Range& range, const SgdOptions& options, double rate, LeftOut<Real> left_out) {
    sgd(parameters_.device(), {.value = parameters_.values() + range.first,
                               .gradient = parameters_.gradients() + range.first,
                               .momentum = options.momentum > 0 ? state(0, range) : nullptr,
                               .compute = parameters_.compute() + range.first,
                               .count = range.count,
                               .squares = norm_.squares(),
                               .options = options,
                               .rate = rate,
                               .step = steps_,
                               .left_out = left_out,
                               .factors = factors(range)});
  }
  Real* state(std::size_t i, const Range& range) const { return states_[i].data() + (range.first - share_.first); }
  const UpdateFactors<Real>* factors(const Range& range) const {
    const UpdateFactors<Real>* table = groups_.data();
    return table == nullptr ? nullptr : table + (range.first - share_.first) / kParameterBlock;
  }

  Parameters<Device>& parameters_;
  UpdateShare<Device> share_;
  std::vector<OptimiserRule> rules_;
  GroupedOptions options_;
  std::vector<std::size_t> rule_of_;  // of each entry
  GradientNorm<Device> norm_;
  Buffer<Real, typename Device::Memory> already_noted_;
  GroupTable<Device> groups_;
  std::array<Buffer<Real, typename Device::Memory>, 3> states_;
  std::vector<Range> ranges_;
  Index steps_ = 0;
};

template <class Model>
Grouped(Network<Model>&, std::vector<OptimiserRule>, GroupedOptions = {}) -> Grouped<typename Model::DeviceType>;
template <class Model>
Grouped(Network<Model>&, std::vector<OptimiserRule>, GroupedOptions, UpdateShare<typename Model::DeviceType>)
    -> Grouped<typename Model::DeviceType>;

}  // namespace attn
