#include "attn/optim/averaged.hpp"

#include "attn/optim/adam.hpp"
#include "attn/optim/sgd.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;

namespace {

template <class Device>
struct Three {
  using DeviceType = Device;
  Parameter<Device> numbers{3, 1};
  void for_each_parameter(auto&& visit) { visit("numbers", numbers); }
};

/// A network of three weights, 1, -2 and 4, and steps whose gradients are 1, 2 and -4.
template <class T>
struct Setting {
  Cpu<T> device{1};
  Network<Three<Cpu<T>>> network{device, 1};
  const typename Parameters<Cpu<T>>::Entry& entry = network.parameters.entries()[0];
  Sgd<Cpu<T>> sgd{network};

  Setting() { network.parameters.write(entry, {1, -2, 4}); }
  void step(auto& optimiser) {
    const T gradients[] = {1, 2, -4};
    std::copy(std::begin(gradients), std::end(gradients), network.parameters.gradients());
    optimiser.step(1);
  }
  std::vector<T> weights() const { return network.parameters.read(entry); }
};

}  // namespace

TEST_CASE_TEMPLATE("averaged: two steps match a manual calculation", T, float, double) {
  Setting<T> setting;
  Averaged averaged(setting.network, setting.sgd, 0.5);
  setting.step(averaged);  // 0, -4, 8; of the average 2/11 stays
  setting.step(averaged);  // -1, -6, 12; 3/12 stays
  CHECK(averaged.steps() == 2);
  CHECK(setting.weights() == std::vector<T>{-1, -6, 12});
  averaged.exchange();
  const double first = 2.0 / 11, second = 3.0 / 12;
  CHECK(largest_difference(
            setting.weights(),
            std::vector<double>{second * first - (1 - second), second * (-2 * first - 4 * (1 - first)) - 6 * (1 - second),
                                second * (4 * first + 8 * (1 - first)) + 12 * (1 - second)}) <=
        (std::is_same_v<T, double> ? 1e-14 : 2e-6));
  averaged.exchange();
  CHECK(setting.weights() == std::vector<T>{-1, -6, 12});
}

TEST_CASE("averaged: keeps the configured share of itself after many steps") {
  Setting<double> setting;
  Averaged averaged(setting.network, setting.sgd, 0.5);
  setting.sgd.set_steps(1'000'000);
  setting.step(averaged);
  averaged.exchange();
  CHECK(setting.weights() == std::vector<double>{0.5, -3, 6});
}

TEST_CASE("averaged: a decay of 0 equals the optimiser alone") {
  Setting<float> setting;
  Averaged averaged(setting.network, setting.sgd, 0);
  setting.step(averaged);
  averaged.exchange();
  CHECK(setting.weights() == std::vector<float>{0, -4, 8});
  int states = 0;
  averaged.for_each_state([&](const std::string&, const auto&) { ++states; });
  CHECK(states == 0);
}

TEST_CASE("averaged: adds the average to the optimiser's state and reports the optimiser's gradient norm") {
  Setting<float> setting;
  Adam adam(setting.network, {.clip_norm = 1});
  Averaged averaged(setting.network, adam, 0.9);
  std::vector<std::string> names;
  averaged.for_each_state([&](const std::string& name, const auto& buffer) {
    names.push_back(name);
    CHECK(buffer.size() == setting.network.parameters.size());
  });
  CHECK(names == std::vector<std::string>{"m", "v", "average"});
  CHECK(std::string(averaged.name) == "adam");
  setting.step(averaged);
  REQUIRE(averaged.gradient_norm().has_value());
  CHECK(*averaged.gradient_norm() == doctest::Approx(std::sqrt(21.0)));
}

TEST_CASE("averaged: an invalid decay is an error") {
  Setting<float> setting;
  for (const double decay : {-0.1, 1.0, 2.0, std::nan("")})
    CHECK(complaint([&] { Averaged averaged(setting.network, setting.sgd, decay); }).find("is not in [0, 1)") !=
          std::string::npos);
}
