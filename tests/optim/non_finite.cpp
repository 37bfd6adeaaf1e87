#include "attn/optim/non_finite.hpp"

#include <limits>

#include "attn/optim/adam.hpp"
#include "attn/optim/any_optimiser.hpp"
#include "attn/optim/averaged.hpp"
#include "attn/optim/sgd.hpp"
#include "support/errors.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

template <class Device>
struct Three {
  using DeviceType = Device;
  Parameter<Device> numbers{3, 1};
  void for_each_parameter(auto&& visit) { visit("numbers", numbers); }
};

/// Makes steps with Optim, with these third numbers of the gradient, and remembers what it had before the last.
template <class Optim>
struct Steps {
  using Device = Cpu<float>;
  Device device{2};
  Network<Three<Device>> network{device, 1};
  Optim optimiser;
  std::vector<float> before;

  explicit Steps(auto options) : optimiser(network, options) { write({1, 2, 3}); }
  void write(const std::vector<float>& values) { network.parameters.write(entry(), values); }
  const auto& entry() const { return network.parameters.entries()[0]; }
  std::vector<float> all() {
    std::vector<float> numbers = network.parameters.read(entry());
    optimiser.for_each_state([&](const auto&, const auto& state) {
      for (Index i = 0; i < state.size(); ++i) numbers.push_back(state.data()[i]);
    });
    return numbers;
  }
  void step(double third) {
    before = all();
    float* gradient = network.parameters.gradients();
    gradient[0] += 1, gradient[1] += -1, gradient[2] += static_cast<float>(third);
    optimiser.step(0.1);
  }
};

/// An optimiser with the required functions only.
struct Plain {
  static constexpr const char* name = "plain";
  void step(double) {}
  Index steps() const { return 0; }
  void set_steps(Index) {}
  void for_each_state(const auto&) {}
};

}  // namespace

TEST_CASE_TEMPLATE("non-finite gradients: a skipped step changes nothing and is counted", Optim, Adam<Cpu<float>>,
                   Sgd<Cpu<float>>) {
  using Options = std::remove_cvref_t<decltype(std::declval<Optim>().options())>;
  Steps<Optim> steps(Options{});
  steps.optimiser.set_non_finite(NonFinite::skip);  // computes the norm, though it does not clip
  steps.step(1);
  CHECK(steps.all() != steps.before);
  CHECK(steps.optimiser.take_skipped_steps().count == 0);
  for (const double bad : {nan_value, infinity, -infinity, 1e30}) {  // the last one's square is no float
    steps.step(bad);
    CHECK(steps.all() == steps.before);
    CHECK(steps.network.parameters.read_gradient(steps.entry()) == std::vector<float>(3, 0));
  }
  const SkippedSteps bad = steps.optimiser.take_skipped_steps();
  CHECK(bad.count == 4);
  CHECK(bad.first == 2);
  CHECK(steps.optimiser.take_skipped_steps().count == 0);
  steps.step(1);
  CHECK(steps.all() != steps.before);
  CHECK(steps.optimiser.steps() == 6);
}

TEST_CASE_TEMPLATE("non-finite gradients: in stop mode the gradients are kept for inspection", Optim, Adam<Cpu<float>>,
                   Sgd<Cpu<float>>) {
  using Options = std::remove_cvref_t<decltype(std::declval<Optim>().options())>;
  Options options;
  options.clip_norm = 1;
  Steps<Optim> steps(options);
  steps.step(1);
  steps.step(infinity);
  CHECK(steps.all() == steps.before);
  steps.step(1);
  CHECK(steps.all() == steps.before);
  CHECK(steps.network.parameters.read_gradient(steps.entry()) ==
        std::vector<float>{2, -2, std::numeric_limits<float>::infinity()});
  const SkippedSteps bad = steps.optimiser.take_skipped_steps();
  CHECK((bad.count == 2 && bad.first == 2));
}

TEST_CASE("non-finite gradients: are not checked without clipping or skipping") {
  Steps<Adam<Cpu<float>>> steps(AdamOptions{});
  steps.step(nan_value);
  CHECK(steps.all() != steps.before);
  CHECK(steps.optimiser.take_skipped_steps().count == 0);
}

TEST_CASE("non-finite gradients: Averaged forwards skipped steps and unsupported optimisers are an error") {
  Steps<Adam<Cpu<float>>> steps(AdamOptions{.clip_norm = 1});
  Averaged averaged(steps.network, steps.optimiser, 0.5);
  steps.network.parameters.gradients()[0] = static_cast<float>(nan_value);
  averaged.step(0.1);
  CHECK(averaged.take_skipped_steps().count == 1);

  Plain plain;
  const AnyOptimiser<Cpu<float>> any = plain;
  CHECK(any.name() == "plain");
  CHECK(any.take_skipped_steps().count == 0);
  CHECK(!any.gradient_norm());
  any.set_non_finite(NonFinite::stop);
  CHECK(contains(error_of([&] { any.set_non_finite(NonFinite::skip); }), "the optimiser plain cannot skip steps"));
}
