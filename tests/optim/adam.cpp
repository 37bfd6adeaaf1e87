#include "attn/optim/adam.hpp"

#include "attn/checkpoint/safetensors.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

/// Parameters without a model.
template <class Device>
struct Numbers {
  Parameter<Device> first, second;
  explicit Numbers(Index a, Index b = 0) : first{a, 1}, second{b, 1} {}
  void for_each_parameter(auto&& visit) {
    visit("first", first);
    if (second.rows > 0) visit("second", second);
  }
};

void set_gradient(Parameters<D>& parameters, const Parameters<D>::Entry& entry, const std::vector<double>& numbers) {
  std::copy(numbers.begin(), numbers.end(), parameters.gradients() + entry.offset);
}

}  // namespace

TEST_CASE("adam: ten steps of each variant match PyTorch") {
  const SafetensorsFile file(std::filesystem::path(ATTN_TEST_FILES) / "ops.safetensors");
  using Decay = AdamOptions::Decay;
  const AdamOptions plain{.beta2 = 0.98, .epsilon = 1e-9};
  const auto with = [&](double weight_decay, Decay decay, bool amsgrad) {
    AdamOptions options = plain;
    options.weight_decay = weight_decay;
    options.decay = decay;
    options.decay_vectors = true;
    options.amsgrad = amsgrad;
    return options;
  };
  const std::vector<std::pair<const char*, AdamOptions>> kinds{{"adam", plain},
                                                               {"adam_decay_0.1", with(0.1, Decay::coupled, false)},
                                                               {"adamw_decay_0.1", with(0.1, Decay::decoupled, false)},
                                                               {"amsgrad", with(0, Decay::decoupled, true)},
                                                               {"amsgrad_decay_0.1", with(0.1, Decay::coupled, true)},
                                                               {"amsgradw_decay_0.1", with(0.1, Decay::decoupled, true)}};
  const auto start = file.values<double>("optimiser/start"), gradients = file.values<double>("optimiser/gradients");
  for (const auto& [kind, options] : kinds) {
    const char* name = kind;
    INFO(name);
    const auto expected = file.values<double>(std::string("optimiser/") + name);
    D device;
    Numbers<D> model(7);
    Parameters<D> parameters(device, model, 1);
    parameters.write(parameters.entries()[0], start);
    Adam<D> adam(parameters, options);
    for (std::size_t step = 0; step < 10; ++step) {
      const auto at = static_cast<std::ptrdiff_t>(7 * step);
      set_gradient(parameters, parameters.entries()[0], {gradients.begin() + at, gradients.begin() + at + 7});
      adam.step(1e-2);
      const std::vector<double> now(expected.begin() + at, expected.begin() + at + 7);
      CHECK(largest_difference(parameters.read(parameters.entries()[0]), now) < 1e-12);
      for (const double number : parameters.read_gradient(parameters.entries()[0])) CHECK(number == 0);
    }
    CHECK(adam.steps() == 10);
  }
}

TEST_CASE("adam: the first step matches a manual calculation") {
  D device;
  Numbers<D> model(3);
  Parameters<D> parameters(device, model, 1);
  parameters.write(parameters.entries()[0], {1, 2, 3});
  Adam<D> adam(parameters, {.epsilon = 0.5});
  set_gradient(parameters, parameters.entries()[0], {4, -0.5, 0});
  adam.step(0.1);  // m / (1 - b1) = g and v / (1 - b2) = g²
  const auto now = parameters.read(parameters.entries()[0]);
  CHECK(now[0] == doctest::Approx(1 - 0.1 * 4 / 4.5).epsilon(1e-12));
  CHECK(now[1] == doctest::Approx(2 + 0.1 * 0.5 / 1.0).epsilon(1e-12));
  CHECK(now[2] == 3);
}

TEST_CASE("adam: clips by the norm of all parameters and never enlarges gradients") {
  // With beta1 = 0 and epsilon far above the gradients, a step is the gradient, clipped, over epsilon.
  const auto moved = [](double clip_norm) {
    D device;
    Numbers<D> model(2, 1);
    Parameters<D> parameters(device, model, 1);
    Adam<D> adam(parameters, {.beta1 = 0, .beta2 = 0, .epsilon = 1e9, .clip_norm = clip_norm});
    set_gradient(parameters, parameters.find("first"), {2, -3});
    set_gradient(parameters, parameters.find("second"), {6});
    adam.step(1e9);
    return std::pair(parameters.read(parameters.find("first")), parameters.read(parameters.find("second"))[0]);
  };
  for (const double none : {0.0, 7.5}) {  // the norm is 7
    CHECK(moved(none).first[0] == doctest::Approx(-2).epsilon(1e-7));
    CHECK(moved(none).second == doctest::Approx(-6).epsilon(1e-7));
  }
  const double factor = 3.5 / (7 + 1e-6);
  CHECK(moved(3.5).first[0] == doctest::Approx(-2 * factor).epsilon(1e-7));
  CHECK(moved(3.5).first[1] == doctest::Approx(3 * factor).epsilon(1e-7));
  CHECK(moved(3.5).second == doctest::Approx(-6 * factor).epsilon(1e-7));
}

TEST_CASE_TEMPLATE("adam: results do not depend on the number of threads", T, float, double) {
  const auto run = [](int threads) {
    Cpu<T> device(threads);
    Numbers<Cpu<T>> model(70001);
    model.first.initial = Initializer::normal(1);
    Parameters<Cpu<T>> parameters(device, model, 1);
    Adam<Cpu<T>> adam(parameters, {.weight_decay = 0.01, .decay_vectors = true, .amsgrad = true, .clip_norm = 0.5});
    Random random(2);
    for (int step = 0; step < 3; ++step) {
      for (Index i = 0; i < 70001; ++i) parameters.gradients()[i] = static_cast<T>(random.normal());
      adam.step(1e-2);
    }
    return parameters.read(parameters.entries()[0]);
  };
  CHECK(run(1) == run(2));
  CHECK(run(1) == run(5));
}

TEST_CASE("adam: state and step count can be read and set to resume a run") {
  const auto run = [](bool interrupted) {
    D device;
    Numbers<D> model(5);
    Parameters<D> parameters(device, model, 1);
    const AdamOptions options{.amsgrad = true};
    Adam<D> adam(parameters, options), other(parameters, options);
    const auto step = [&](Adam<D>& with) {
      set_gradient(parameters, parameters.entries()[0], {1, -2, 0.5, 3, 0});
      with.step(1e-2);
    };
    step(adam);
    step(adam);
    if (interrupted) {
      std::vector<std::vector<double>> state;
      adam.for_each_state(
          [&](const char*, const auto& numbers) { state.emplace_back(numbers.data(), numbers.data() + numbers.size()); });
      CHECK(state.size() == 3);
      std::size_t i = 0;
      other.for_each_state([&](const char*, const auto& numbers) {
        std::copy(state[i].begin(), state[i].end(), numbers.data());
        ++i;
      });
      other.set_steps(adam.steps());
    }
    step(interrupted ? other : adam);
    return parameters.read(parameters.entries()[0]);
  };
  CHECK(run(false) == run(true));
}

TEST_CASE("adam: invalid options are errors") {
  D device;
  Numbers<D> model(1);
  Parameters<D> parameters(device, model, 1);
  const auto refusal = [&](AdamOptions options) { return error_of([&] { Adam<D>(parameters, options); }); };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double beta : {1.0, 1.5, -0.1, nan}) {
    CHECK(contains(refusal({.beta1 = beta}), "must be in [0, 1)"));
    CHECK(contains(refusal({.beta2 = beta}), "must be in [0, 1)"));
  }
  for (const double number : {-1.0, nan}) {
    CHECK(contains(refusal({.epsilon = number}), "must be 0 or more"));
    CHECK(contains(refusal({.weight_decay = number}), "must be 0 or more"));
    CHECK(contains(refusal({.clip_norm = number}), "must be 0 or more"));
  }
  CHECK(refusal({.beta1 = 0, .beta2 = 0, .epsilon = 0}).empty());
}
