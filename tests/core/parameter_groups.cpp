#include "attn/core/parameter_groups.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "attn/core/network.hpp"
#include "attn/cpu/device.hpp"
#include "support/errors.hpp"

using namespace attn;
using Device = Cpu<double>;

namespace {

struct Layer {
  Parameter<Device> weight{3, 2}, bias{3, 1};
  void for_each_parameter(auto&& visit) {
    visit("weight", weight);
    visit("bias", bias);
  }
};

struct Stack {
  Layer first, second;
  void for_each_parameter(auto&& visit) {
    visit("0", first);
    visit("1", second);
  }
};

/// Whose output is tied to its embedding.
struct Model {
  using DeviceType = Device;
  Parameter<Device> embedding{8, 2};
  Stack encoder, encoder2;
  Parameter<Device> output{8, 2};
  void for_each_parameter(auto&& visit) {
    visit("embedding", embedding);
    visit("encoder", encoder);
    visit("encoder2", encoder2);
    visit("output", output);
    visit.tie(output, embedding);
  }
};

struct Twice {
  Parameter<Device> a{2, 3}, b{2, 1};
  void for_each_parameter(auto&& visit) {
    visit("weight", a);
    visit("weight", b);
  }
};

std::vector<std::string> frozen(const Network<Model>& network) {
  std::vector<std::string> names;
  for (const auto& entry : network.parameters.entries())
    if (entry.frozen) names.push_back(entry.name);
  return names;
}

}  // namespace

TEST_CASE("parameter groups: a name selects whole components and an asterisk selects everything") {
  CHECK(matches_name("encoder", "encoder.layers.0.weight"));
  CHECK(matches_name("encoder.layers.0.weight", "encoder.layers.0.weight"));
  CHECK_FALSE(matches_name("encoder", "encoder2.weight"));
  CHECK_FALSE(matches_name("encoder.layers", "encoder"));
  CHECK_FALSE(matches_name("enc", "encoder"));
  CHECK(matches_name("encoder.*.weight", "encoder.0.weight.x"));
  CHECK_FALSE(matches_name("encoder.*.weight", "encoder.0.1.weight"));
  CHECK(matches_name("*", "anything.at.all"));
  CHECK_FALSE(matches_name("", "encoder"));
  CHECK_FALSE(matches_name("encoder.", "encoder.0"));
}

TEST_CASE("parameter groups: freezes and unfreezes parameters by name and by layer") {
  Device device(1);
  Network<Model> network(device, 1);
  const Index before = network.parameters.groups_version();
  network.freeze("encoder");
  CHECK(network.parameters.groups_version() != before);
  CHECK(frozen(network) ==
        std::vector<std::string>{"encoder.0.weight", "encoder.0.bias", "encoder.1.weight", "encoder.1.bias"});
  CHECK(network->encoder.first.weight.frozen);
  CHECK_FALSE(network->encoder.first.weight.learns());
  CHECK(network->encoder.first.weight.gradients() != nullptr);
  CHECK(network->encoder2.first.weight.learns());
  CHECK(network.parameters.count() == 16 + 4 * 9);
  CHECK(network.parameters.trainable_count() == 16 + 2 * 9);
  CHECK(network->encoder.first.weight.row_range(1, 1).frozen);
  network.unfreeze("encoder.*.bias");
  network.unfreeze(network->encoder.second);
  CHECK(frozen(network) == std::vector<std::string>{"encoder.0.weight"});
  network.unfreeze("*");
  network.freeze(network->encoder2.second);
  network.freeze(network->encoder.first.bias);
  CHECK(frozen(network) == std::vector<std::string>{"encoder.0.bias", "encoder2.1.weight", "encoder2.1.bias"});
}

TEST_CASE("parameter groups: later groups override earlier ones") {
  Device device(1);
  Network<Model> network(device, 1);
  network.group("*", {.rate = 0.5});
  network.group("encoder", {.rate = 0.1, .weight_decay = 0.3});
  network.group(network->encoder.second, {.weight_decay = 0.0});
  const auto group = [&](const char* name) { return network.parameters.find(name).group; };
  CHECK(group("embedding") == GroupOptions{.rate = 0.5});
  CHECK(group("encoder.0.bias") == GroupOptions{.rate = 0.1, .weight_decay = 0.3});
  CHECK(group("encoder.1.bias") == GroupOptions{.rate = 1, .weight_decay = 0.0});
  CHECK(group("encoder2.1.bias") == GroupOptions{.rate = 0.5});
  CHECK(network.parameters.find("encoder.0.bias").is_vector());
  CHECK_FALSE(network.parameters.find("encoder.0.weight").is_vector());
}

TEST_CASE("parameter groups: freezing one of two tied parameters freezes both and the owner's group applies") {
  Device device(1);
  Network<Model> network(device, 1);
  network.freeze("output");
  CHECK(frozen(network) == std::vector<std::string>{"embedding"});
  CHECK(network->embedding.frozen);
  CHECK(network->output.frozen);
  network.unfreeze(network->output);
  CHECK_FALSE(network->embedding.frozen);
  CHECK(error_of([&] { network.group("output", {.rate = 2}); }) ==
        "group: 'output' is tied to 'embedding'. Group that parameter instead.");
  network.group("*", {.rate = 3});
  CHECK(network.parameters.find("embedding").group.rate == 3);
}

TEST_CASE("parameter groups: the error for an unknown name lists existing names and the closest match") {
  Device device(1);
  Network<Model> network(device, 1);
  CHECK(error_of([&] { network.freeze("encodr"); }) ==
        "the model has no parameters named 'encodr'; its top-level names are embedding, encoder, encoder2, output; did you "
        "mean 'encoder'?");
  CHECK(contains(error_of([&] { network.group("encoder.0.wieght", {}); }), "did you mean 'encoder.0.weight'?"));
  CHECK(error_of([&] { network.unfreeze("norm"); }) ==
        "the model has no parameters named 'norm'; its top-level names are embedding, encoder, encoder2, output");
  Layer other;
  CHECK(contains(error_of([&] { network.freeze(other); }), "the model has no parameters of this layer"));
  CHECK(frozen(network).empty());
}

TEST_CASE("parameter groups: rejects negative and non-finite factors") {
  Device device(1);
  Network<Model> network(device, 1);
  for (const double number : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    CHECK(contains(error_of([&] { network.group("encoder", {.rate = number}); }), "a rate factor of"));
    CHECK(contains(error_of([&] { network.group("encoder", {.weight_decay = number}); }), "a weight_decay of"));
  }
  CHECK(network.parameters.find("encoder.0.bias").group == GroupOptions{});
}

TEST_CASE("parameters: duplicate names are an error at construction") {
  Device device(1);
  Twice twice;
  CHECK(error_of([&] { Parameters<Device>(device, twice, 1); }) ==
        "two parameters of the model are named 'weight': parameter 1 of 2 x 3 and parameter 2 of 2 x 1, in the order of "
        "for_each_parameter; give each its own name there");
}
