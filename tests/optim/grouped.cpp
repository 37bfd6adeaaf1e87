#include "attn/optim/grouped.hpp"

#include "attn/optim/adam.hpp"
#include "attn/optim/sgd.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using Host = Cpu<double>;

namespace {

struct Parts {
  using DeviceType = Host;
  Parameter<Host> first{5, 20, Initializer::normal(1)}, second{70, 1, Initializer::normal(1)},
      third{9, 9, Initializer::normal(1)};
  void for_each_parameter(auto&& visit) {
    visit("first", first);
    visit("second", second);
    visit("third", third);
  }
};

struct Training {
  Host device{1};
  Network<Parts> network{device, 3};
  Parameters<Host>& parameters = network.parameters;

  void set_gradients(std::uint64_t seed) {
    Random random(seed);
    for (const auto& entry : parameters.entries())
      for (Index i = 0; i < entry.size(); ++i) parameters.gradients()[entry.offset + i] = random.normal();
  }
  template <class Optim>
  void run(Optim& optimiser, std::uint64_t steps = 3) {
    for (std::uint64_t step = 0; step < steps; ++step) set_gradients(step), optimiser.step(0.01);
  }
  std::vector<double> read(const char* name) const { return parameters.read(parameters.find(name)); }
};

}  // namespace

TEST_CASE("grouped: each optimiser updates its parameters as alone but with the common norm") {
  const AdamOptions adam{.weight_decay = 0.1, .amsgrad = true};
  const SgdOptions sgd{.momentum = 0.9, .weight_decay = 0.2};
  AdamOptions clipped_adam = adam;
  SgdOptions clipped_sgd = sgd;
  clipped_adam.clip_norm = clipped_sgd.clip_norm = 3;
  Training grouped, by_adam, by_sgd;
  Grouped both(grouped.network, {{"*", adam}, {"second", sgd}}, {.clip_norm = 3});
  Adam one(by_adam.network, clipped_adam);
  Sgd other(by_sgd.network, clipped_sgd);
  grouped.run(both);
  by_adam.run(one);
  by_sgd.run(other);
  CHECK(grouped.read("first") == by_adam.read("first"));
  CHECK(grouped.read("second") == by_sgd.read("second"));
  CHECK(grouped.read("third") == by_adam.read("third"));
  CHECK(both.gradient_norm() == one.gradient_norm());
  CHECK(both.steps() == 3);
  CHECK(both.rules() == "*: adam, second: sgd");
  for (Index i = 0; i < grouped.parameters.size(); ++i) CHECK(grouped.parameters.gradients()[i] == 0);
  std::vector<std::string> states;
  both.for_each_state([&](const std::string& name, const auto& numbers) {
    states.push_back(name);
    CHECK(numbers.size() == grouped.parameters.size());
  });
  CHECK(states == std::vector<std::string>{"first", "second", "third"});
}

TEST_CASE("grouped: groups and frozen parameters apply to all optimisers") {
  Training grouped, by_sgd;
  for (Training* one : {&grouped, &by_sgd}) {
    one->network.group("second", {.rate = 10});
    one->network.freeze("third");
  }
  const auto third = grouped.read("third");
  Grouped both(grouped.network, {{"*", AdamOptions{}}, {"second", SgdOptions{}}});
  Sgd other(by_sgd.network);
  grouped.run(both);
  by_sgd.run(other);
  CHECK(grouped.read("second") == by_sgd.read("second"));
  CHECK(grouped.read("third") == third);
}

TEST_CASE("grouped: a skipped step counts once") {
  Training training;
  Grouped both(training.network, {{"*", AdamOptions{}}, {"second", SgdOptions{}}});
  both.set_non_finite(NonFinite::skip);
  training.run(both, 1);
  const auto before = training.read("third");
  training.set_gradients(7);
  training.parameters.gradients()[0] = std::numeric_limits<double>::infinity();
  both.step(0.01);
  const SkippedSteps bad = both.take_skipped_steps();
  CHECK(bad.count == 1);
  CHECK(bad.first == 2);
  CHECK(training.read("third") == before);
}

TEST_CASE("grouped: rules that miss parameters or clip on their own are errors") {
  Training training;
  const auto says = [&](std::vector<OptimiserRule> rules) {
    return error_of([&] { Grouped grouped(training.network, rules); });
  };
  CHECK(contains(says({{"first", AdamOptions{}}}), "Grouped: no rule selects 'second'; add a first rule \"*\""));
  CHECK(contains(says({{"*", AdamOptions{.clip_norm = 1}}}), "Set GroupedOptions::clip_norm"));
  CHECK(contains(says({{"*", AdamOptions{.beta1 = 2}}}), "must be in [0, 1)"));
  CHECK(contains(says({{"*", AdamOptions{}}, {"secnd", SgdOptions{}}}), "did you mean 'second'?"));
}
