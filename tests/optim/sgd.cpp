#include "attn/optim/sgd.hpp"

#include "support/model_tools.hpp"

using namespace attn_test;

namespace {

template <class Device>
struct Five {
  using DeviceType = Device;
  Parameter<Device> numbers{5, 1};
  void for_each_parameter(auto&& visit) { visit("numbers", numbers); }
};

}  // namespace

TEST_CASE_TEMPLATE("sgd: three steps of every variant match PyTorch", T, float, double) {
  const std::vector<std::vector<double>> gradients{
      {0.5, -1, 2, 0, 0.25}, {-0.25, 0.5, 1, -3, 0.125}, {1.5, 0, -2, 1, -0.5}};
  const auto check = [&](const char* name, SgdOptions options, const std::vector<double>& expected) {
    CAPTURE(name);
    Cpu<T> device(1);
    Network<Five<Cpu<T>>> network(device, 1);
    auto& parameters = network.parameters;
    const auto& entry = parameters.entries()[0];
    parameters.write(entry, {1, -2, 0.5, 3, -0.25});
    Sgd sgd(network, options);
    for (const auto& gradient : gradients) {
      std::copy(gradient.begin(), gradient.end(), parameters.gradients());
      sgd.step(0.1);
      CHECK(parameters.read_gradient(entry) == std::vector<T>(5, 0));
    }
    CHECK(sgd.steps() == 3);
    CHECK(largest_difference(parameters.read(entry), expected) <= (std::is_same_v<T, double> ? 1e-14 : 1e-6));
  };
  // torch.optim.SGD([p], lr=0.1, ...) in double, torch.nn.utils.clip_grad_norm_([p], 1) before the last kind's steps
  check("plain", {}, {0.825, -1.95, 0.4, 3.2, -0.2375});
  check("momentum", {.momentum = 0.9}, {0.762, -1.824, -0.032, 3.47, -0.2915});
  check("nesterov", {.momentum = 0.9, .nesterov = true}, {0.6108, -1.7916, -0.0788, 3.623, -0.27485});
  check("decay", {.momentum = 0.8, .weight_decay = 0.1, .decay_vectors = true},
        {0.722604, -1.745208, 0.0142095, 3.281177, -0.26949225});
  check("clipped", {.momentum = 0.9, .nesterov = true, .weight_decay = 0.01, .decay_vectors = true, .clip_norm = 1},
        {0.8345718148448552, -1.8772781255417013, 0.2530092867727859, 3.159155749466669, -0.261018329438965});
}

TEST_CASE("sgd: the gradient norm is known only with clipping") {
  Cpu<double> device(1);
  Network<Five<Cpu<double>>> network(device, 1);
  Sgd plain(network), clipping(network, {.clip_norm = 1});
  CHECK_FALSE(clipping.gradient_norm());  // before the first step
  const auto step = [&](auto& sgd) {
    network.parameters.gradients()[0] = 3;
    network.parameters.gradients()[4] = -4;
    sgd.step(0.1);
    return sgd.gradient_norm();
  };
  CHECK(step(clipping) == 5.0);
  CHECK_FALSE(step(plain));
}

TEST_CASE("sgd: the state is the momentum if any") {
  Cpu<double> device(1);
  Network<Five<Cpu<double>>> network(device, 1);
  const auto states = [](auto&& sgd) {
    std::vector<std::string> names;
    sgd.for_each_state([&](const std::string& name, const auto&) { names.push_back(name); });
    return names;
  };
  CHECK(states(Sgd(network)).empty());
  CHECK(states(Sgd(network, {.momentum = 0.5})) == std::vector<std::string>{"momentum"});
}

TEST_CASE("sgd: invalid options are errors") {
  Cpu<double> device(1);
  Network<Five<Cpu<double>>> network(device, 1), used(device, Inference{});
  const auto says = [&](SgdOptions options) { return complaint([&] { Sgd sgd(network, options); }); };
  CHECK(says({.momentum = 1}) == "Sgd: a momentum of 1 is not in [0, 1)");
  CHECK(says({.weight_decay = -1}) == "Sgd: weight_decay -1 and clip_norm 0 must be 0 or more");
  CHECK(says({.nesterov = true}) == "Sgd: nesterov needs a momentum above 0");
  CHECK(complaint([&] { Sgd sgd(used); }).find("made for inference") != std::string::npos);
}
