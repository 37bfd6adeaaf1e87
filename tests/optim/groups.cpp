#include "attn/optim/adam.hpp"
#include "attn/optim/sgd.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;

namespace {

template <class Device>
struct FourParameters {
  using DeviceType = Device;
  Parameter<Device> weight{2, 3}, bias{2, 1}, head{2, 2}, frozen{2, 2, Initializer::uniform(1)};
  void for_each_parameter(auto&& visit) {
    visit("encoder.weight", weight);
    visit("encoder.bias", bias);
    visit("head", head);
    visit("frozen", frozen);
  }
};

/// Three steps with the gradients of the Python lines below, and gradients of the frozen parameter that must not count.
template <class T>
struct Steps {
  Cpu<T> device{1};
  Network<FourParameters<Cpu<T>>> network{device, 1};
  Parameters<Cpu<T>>& parameters = network.parameters;

  Steps() {
    write("encoder.weight", {1, -2, 0.5, 3, -0.25, 0.75});
    write("encoder.bias", {0.5, -1});
    write("head", {2, 1, -1, 0.125});
    network.group("encoder", {.rate = 0.1});
    network.group("head", {.weight_decay = 0.3});
    network.freeze("frozen");
  }
  void write(const char* name, const std::vector<T>& numbers) { parameters.write(parameters.find(name), numbers); }
  std::vector<T> read(const char* name) const { return parameters.read(parameters.find(name)); }
  void set_gradients(double t) {
    const auto set = [&](const char* name, const std::vector<double>& numbers) {
      for (std::size_t i = 0; i < numbers.size(); ++i)
        parameters.gradients()[parameters.find(name).offset + static_cast<Index>(i)] = static_cast<T>(t * numbers[i]);
    };
    set("encoder.weight", {0.5, -1, 2, 0, 0.25, -3});
    set("encoder.bias", {1.5, -0.75});
    set("head", {-0.5, 1, 4, -0.125});
    set("frozen", {100, 200, 300, 400});
  }
  template <class Optim>
  void run(Optim& optimiser) {
    for (const double t : {1.0, -0.5, 2.0}) {
      set_gradients(t);
      optimiser.step(0.01);
      for (Index i = 0; i < parameters.size(); ++i) CHECK(parameters.gradients()[i] == 0);
    }
  }
};

}  // namespace

// w = torch.tensor([[1.0, -2.0, 0.5], [3.0, -0.25, 0.75]], dtype=torch.float64, requires_grad=True)
// b = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
// h = torch.tensor([[2.0, 1.0], [-1.0, 0.125]], dtype=torch.float64, requires_grad=True)
// o = torch.optim.AdamW([{"params": [w], "lr": 0.001, "weight_decay": 0.1},
//                        {"params": [b], "lr": 0.001, "weight_decay": 0.0},
//                        {"params": [h], "weight_decay": 0.3}], lr=0.01, betas=(0.9, 0.98), eps=1e-9)
// for t in (1.0, -0.5, 2.0):
//     w.grad = t * torch.tensor([[0.5, -1.0, 2.0], [0.0, 0.25, -3.0]], dtype=torch.float64)
//     b.grad = t * torch.tensor([1.5, -0.75], dtype=torch.float64)
//     h.grad = t * torch.tensor([[-0.5, 1.0], [4.0, -0.125]], dtype=torch.float64)
//     torch.nn.utils.clip_grad_norm_([w, b, h], 2.0)
//     o.step()
// print(w, b, h)
// and the same with torch.optim.Adam, and with torch.optim.SGD([...], lr=0.01, momentum=0.9, nesterov=True).

TEST_CASE_TEMPLATE("groups: three steps of AdamW and Adam and SGD match PyTorch's param_groups", T, float, double) {
  const double bound = std::is_same_v<T, double> ? 1e-13 : 5e-7;
  const auto check = [&](auto&& make, const std::vector<double>& weight, const std::vector<double>& bias,
                         const std::vector<double>& head) {
    Steps<T> steps;
    const auto before = steps.read("frozen");
    auto optimiser = make(steps.network);
    steps.run(optimiser);
    CHECK(largest_difference(steps.read("encoder.weight"), weight) <= bound);
    CHECK(largest_difference(steps.read("encoder.bias"), bias) <= bound);
    CHECK(largest_difference(steps.read("head"), head) <= bound);
    CHECK(steps.read("frozen") == before);
    const Index frozen = steps.parameters.find("frozen").offset;
    optimiser.for_each_state([&](const std::string& name, const auto& state) {
      CAPTURE(name);
      for (Index i = frozen; i < state.size(); ++i) CHECK(state.data()[i] == 0);
    });
  };
  AdamOptions adam{.beta2 = 0.98, .epsilon = 1e-9, .weight_decay = 0.1, .clip_norm = 2};
  check([&](auto& network) { return Adam(network, adam); },
        {0.9984170627717329, -1.9981170927669711, 0.4985670477665901, 2.999100089997, -0.2512079747194933,
         0.7510579897327867},
        {0.4987168380408668, -0.9987168380433751},
        {1.9948272344863198, 0.9782536844762264, -1.0038002615518637, 0.13665165988659883});
  adam.decay = AdamOptions::Decay::coupled;
  check([&](auto& network) { return Adam(network, adam); },
        {0.9978378827379171, -1.997837610676772, 0.4985811113976857, 2.9970000260379295, -0.25071305034583957,
         0.7511427739124947},
        {0.4987168380408668, -0.9987168380433751},
        {1.9706848759665097, 0.9759087720650925, -1.008541668390264, 0.12292641916435422});
  const SgdOptions sgd{.momentum = 0.9, .nesterov = true, .weight_decay = 0.1, .clip_norm = 2};
  check([&](auto& network) { return Sgd(network, sgd); },
        {0.9987470512050262, -1.9974941024100523, 0.4978048680641114, 2.997585717219423, -0.2500229037023426,
         0.7520855565135444},
        {0.4986550942957861, -0.999327547147893},
        {1.9564048843970676, 0.9670801652408646, -1.011569273071542, 0.12310947604664192});
}

TEST_CASE("groups: weight decay skips vectors unless the optimiser or group includes them") {
  const auto shrinks = [](AdamOptions options, std::optional<GroupOptions> group) {
    Cpu<double> device(1);
    Network<FourParameters<Cpu<double>>> network(device, 1);
    auto& parameters = network.parameters;
    for (const char* name : {"encoder.weight", "encoder.bias"})
      parameters.write(parameters.find(name),
                       std::vector<double>(static_cast<std::size_t>(parameters.find(name).size()), 1));
    if (group) network.group("encoder", *group);
    Adam adam(network, options);
    parameters.gradients();
    adam.step(0.5);  // with gradients of 0 only the decay moves
    return std::pair(parameters.read(parameters.find("encoder.weight"))[0],
                     parameters.read(parameters.find("encoder.bias"))[0]);
  };
  CHECK(shrinks({.weight_decay = 0.5}, {}) == std::pair(0.75, 1.0));
  CHECK(shrinks({.weight_decay = 0.5, .decay_vectors = true}, {}) == std::pair(0.75, 0.75));
  CHECK(shrinks({.weight_decay = 0.5}, GroupOptions{.weight_decay = 0.25}) == std::pair(0.875, 1.0));
  CHECK(shrinks({.weight_decay = 0.5}, GroupOptions{.weight_decay = 0.0}) == std::pair(1.0, 1.0));
  CHECK(shrinks({}, GroupOptions{.weight_decay = 0.25, .decay_vectors = true}) == std::pair(0.875, 0.875));
  CHECK(shrinks({.weight_decay = 0.5}, GroupOptions{.rate = 0.5}) == std::pair(0.875, 1.0));
}

TEST_CASE_TEMPLATE("groups: default factors change no bits and groups may change between steps", T, float, double) {
  const auto run = [](bool table, int threads) {
    Cpu<T> device(threads);
    FourParameters<Cpu<T>> model;
    model.weight = {170, 101, Initializer::normal(1)};
    Parameters<Cpu<T>> parameters(device, model, 1);
    Adam adam(parameters, {.clip_norm = 0.5});
    Random random(2);
    for (int step = 0; step < 4; ++step) {
      if (table && step == 1) parameters.freeze("frozen");
      if (table && step == 3) parameters.unfreeze("frozen");
      for (Index i = 0; i < parameters.find("frozen").offset; ++i)
        parameters.gradients()[i] = static_cast<T>(random.normal());
      adam.step(1e-2);
    }
    return std::vector<T>(parameters.values(), parameters.values() + parameters.find("frozen").offset);
  };
  CHECK(run(true, 1) == run(false, 1));
  CHECK(run(true, 3) == run(false, 1));
}

TEST_CASE("groups: gradients of frozen parameters do not count in the norm") {
  Steps<double> steps;
  Adam adam(steps.network, {.clip_norm = 1});
  steps.set_gradients(1);
  adam.step(0.01);
  CHECK(adam.gradient_norm().value() == doctest::Approx(std::sqrt(14.3125 + 2.8125 + 17.265625)).epsilon(1e-12));
}

TEST_CASE("groups: a completely frozen model cannot be trained") {
  Steps<double> steps;
  Adam adam(steps.network);
  steps.network.freeze("*");
  CHECK(contains(error_of([&] { adam.step(0.1); }), "all parameters of the model are frozen"));
}
