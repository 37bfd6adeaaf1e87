#include "attn/core/network.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <type_traits>
#include <vector>

#include "attn/cpu/device.hpp"
#include "support/errors.hpp"

using namespace attn;
using Device = Cpu<double>;

namespace {

struct Plain {
  using DeviceType = Device;
  Parameter<Device> weight{3, 2, Initializer::uniform(1)};
  Parameter<Device> bias{3, 1, Initializer::constant(0.25)};
  void for_each_parameter(auto&& visit) {
    visit("weight", weight);
    visit("bias", bias);
  }
};

struct SizedOptions {
  Index rows = 0, cols = 1;
};

struct Sized : Plain {
  using Options = SizedOptions;
  explicit Sized(const SizedOptions& options) {
    weight.rows = options.rows;
    weight.cols = options.cols;
  }
};

struct HalfVisited {
  Parameter<Device> weight{3, 2}, up{3, 2}, bias{3, 1};
  void for_each_parameter(auto&& visit) { visit("weight", weight), visit("bias", bias); }
};

struct Forgetful {
  using DeviceType = Device;
  Parameter<Device> first{2, 2};
  std::vector<HalfVisited> gates{HalfVisited{}, HalfVisited{}};
  HalfVisited forgotten;
  Parameter<Device> last{2, 2};
  void for_each_parameter(auto&& visit) { visit("first", first), visit("gate0", gates[0]), visit("gate1", gates[1]); }
};

static_assert(!std::is_copy_constructible_v<Network<Plain>> && !std::is_move_constructible_v<Network<Plain>>);
static_assert(!std::is_copy_assignable_v<Network<Plain>> && !std::is_move_assignable_v<Network<Plain>>);

/// Flags before parameters, with seven unused bytes after each.
struct Flags {
  using DeviceType = Device;
  bool first = false;
  Parameter<Device> weight{2, 3};
  unsigned char last = 0x5b;  // the first byte of the marker's address
  Parameter<Device> other{2, 3};
  void for_each_parameter(auto&& visit) {
    visit("weight", weight);
    visit("other", other);
  }
};

}  // namespace

TEST_CASE("network: contains the model and its initialized parameters") {
  Device device(1);
  Network<Sized> network(device, {.rows = 4, .cols = 5}, 7);
  Sized by_hand({.rows = 4, .cols = 5});
  const Parameters<Device> parameters(device, by_hand, 7);
  CHECK(&network.device() == &device);
  CHECK(&*network == &network.model);
  CHECK(network->weight.size() == 20);
  CHECK(network->weight.values() == network.parameters.values());
  for (const auto& entry : parameters.entries()) CHECK(network.parameters.read(entry) == parameters.read(entry));
}

TEST_CASE("network: a model without options needs only a seed") {
  Device device(1);
  const Network<Plain> network(device, 1);
  CHECK(network.parameters.count() == 9);
  CHECK(network->bias.matrix()(2, 0) == 0.25);
}

TEST_CASE("network: initializers can be changed before parameters are drawn") {
  Device device(1);
  const Network<Sized> network(device, {.rows = 2}, 1,
                               [](Sized& model) { model.bias.initial = Initializer::constant(-1); });
  CHECK(network->bias.matrix()(0, 0) == -1);
}

TEST_CASE("network: an inference network has no gradients") {
  Device device(1);
  Network<Sized> network(device, {.rows = 2, .cols = 3}, Inference{});
  CHECK(network->bias.matrix()(0, 0) == 0);  // until they are loaded
  network.parameters.write(network.parameters.find("bias"), {1, 2, 3});
  CHECK(network->bias.matrix()(2, 0) == 3);
  CHECK(network->weight.gradient == nullptr);
  CHECK(contains(error_of([&] { network->weight.gradient_matrix(); }), "its network was made for inference"));
  const std::string sentence = error_of([&] { network.parameters.gradients(); });
  CHECK(contains(sentence, "made for inference and has no gradients"));
  CHECK(contains(sentence, "give a seed instead of Inference{}"));
  CHECK(contains(error_of([&] { network.parameters.read_gradient(network.parameters.find("bias")); }), "no gradients"));
  const Network<Plain> other(device, Inference{});
  CHECK(other.parameters.count() == 9);
}

TEST_CASE("network: an error names the layer of a parameter that for_each_parameter misses") {
  Device device(1);
  const Network<Forgetful> network(device, 1);
  const auto error = [](const Parameter<Device>& parameter) { return error_of([&] { parameter.values(); }); };
  CHECK(error(network->gates[1].up).ends_with(": it is a member of 'gate1', declared after 'gate1.weight'."));
  CHECK(
      error(network->gates[0].up.row_range(1, 2)).ends_with(": it is a member of 'gate0', declared after 'gate0.weight'."));
  CHECK(error(network->forgotten.bias).ends_with(": it is a member of the model, declared after 'first'."));
  CHECK(error(network->last).find("it is a member of the model, declared after 'first'") != std::string::npos);
  CHECK(error(Parameter<Device>{2, 3}).ends_with("does not visit this parameter or its layer."));
  CHECK(error(network->gates[1].bias).empty());
}

TEST_CASE("network: a flag and the bytes after it are not taken for a parameter that is missed") {
  // The bytes after a flag may be left from a pointer that marks a parameter as not visited.
  REQUIRE(reinterpret_cast<std::uintptr_t>(kUnvisited) % 256 > 1);
  Flags model;
  for (void* flag : std::initializer_list<void*>{&model.first, &model.weight.frozen, &model.last, &model.other.frozen})
    std::memcpy(static_cast<char*>(flag) + 1, reinterpret_cast<const char*>(&kUnvisited) + 1, sizeof kUnvisited - 1);
  Device device(1);
  const Parameters<Device> parameters(device, model, 1);
  CHECK_FALSE(model.first);
  CHECK(model.last == 0x5b);
  CHECK(model.weight.learns());
  CHECK(model.other.learns());
  for (const bool* flag : {&model.first, &model.weight.frozen, &model.other.frozen})
    CHECK(*reinterpret_cast<const unsigned char*>(flag) <= 1);
}
