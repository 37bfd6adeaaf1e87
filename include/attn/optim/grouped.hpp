#pragma once
#include <variant>

#include "attn/optim/optimiser_base.hpp"

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
class Grouped : public OptimiserBase<Device> {
  using Base = OptimiserBase<Device>;

 public:
  static constexpr const char* name = "grouped";
  using Real = typename Device::Real;

  Grouped(Parameters<Device>& parameters, std::vector<OptimiserRule> rules, GroupedOptions options = {},
          UpdateShare<Device> share = {})
      : Base(parameters, std::move(share),
             [this](std::size_t entry) {
               return std::visit(
                   [](const auto& options) {
                     return typename Base::Decay{options.weight_decay, options.decay_vectors};
                   },
                   rules_[rule_of_[entry]].options);
             }),
        rules_(std::move(rules)),
        options_(options),
        rule_of_(assign_rules()),
        already_noted_(optimiser_state(parameters, 2)) {
    require(options_.clip_norm >= 0, "Grouped: clip_norm ", options_.clip_norm, " must be 0 or more");
    std::size_t states = 0;
    for (OptimiserRule& rule : rules_) states = std::max(states, prepare(rule));
    this->allocate_states(states);
    find_ranges();
  }
  template <class Model>
  Grouped(Network<Model>& network, std::vector<OptimiserRule> rules, GroupedOptions options = {},
          UpdateShare<Device> share = {})
      : Grouped(network.parameters, std::move(rules), options, std::move(share)) {}
  Grouped(const Grouped&) = delete;  // its table refers to it

  /// Moves every parameter that is not frozen against its gradient, and sets the gradients to 0.
  void step(double rate) {
    this->make_step(options_.clip_norm, [&](LeftOut<Real> left_out) {
      for (const Range& range : ranges_) {
        std::visit([&](const auto& options) { this->update(options, range.first, range.count, rate, left_out); },
                   rules_[range.rule].options);
        if (left_out.noted != nullptr) left_out.noted = already_noted_.data();  // one step counts once
      }
    });
  }

  /// "*: adam, embedding: sgd". A checkpoint is resumed with the rules that it was saved with.
  std::string rules() const {
    std::string text;
    for (const OptimiserRule& rule : rules_)
      text.append(text.empty() ? "" : ", ").append(rule.name).append(rule.options.index() == 0 ? ": adam" : ": sgd");
    return text;
  }

  // Its state, for checkpoints. "first" holds Adam's m and the momentum of SGD, "second" Adam's v, "third" the largest v.
  void for_each_state(const auto& visit) {
    constexpr std::array names{"first", "second", "third"};
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (states_[i].size() > 0) visit(names[i], states_[i]);
  }

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
              "' selects only tied parameters. Select the parameters that own their values.");
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
        [&](auto& options) {
          require(options.clip_norm == 0, "Grouped: '", rule.name,
                  "' sets clip_norm, but gradients are clipped by the norm of all of them. Set GroupedOptions::clip_norm.");
          check_options(options);
          options.clip_norm = options_.clip_norm;
          return state_count(options);
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

  using Base::parameters_, Base::share_, Base::states_;

  std::vector<OptimiserRule> rules_;
  GroupedOptions options_;
  std::vector<std::size_t> rule_of_;  // of each entry
  Buffer<Real, typename Device::Memory> already_noted_;
  std::vector<Range> ranges_;
};

template <class Model>
Grouped(Network<Model>&, std::vector<OptimiserRule>, GroupedOptions = {}, UpdateShare<typename Model::DeviceType> = {})
    -> Grouped<typename Model::DeviceType>;

}  // namespace attn
