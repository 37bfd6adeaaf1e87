#include "attn/core/parameters.hpp"

#include <doctest/doctest.h>

#include "attn/cpu/device.hpp"
#include "support/errors.hpp"

using attn::Index;
using attn::Initializer;
using Device = attn::Cpu<double>;
using Parameter = attn::Parameter<Device>;
using Parameters = attn::Parameters<Device>;

namespace {

struct Layer {
  Parameter weight{3, 5, Initializer::uniform(1)};
  Parameter bias{3, 1, Initializer::constant(0.25)};
  void for_each_parameter(auto&& visit) {
    visit("weight", weight);
    visit("bias", bias);
  }
};

struct Model {
  Layer first, second;
  Parameter table{70, 1, Initializer::normal(1)};
  Parameter none{0, 4};
  bool tied = false;
  void for_each_parameter(auto&& visit) {
    visit("first", first);
    visit("none", none);
    visit("second", second);
    visit("table", table);
    if (tied) visit.tie(second.weight, first.weight);
  }
};

template <class D>
struct Square {
  attn::Parameter<D> weight{4, 4, Initializer::uniform(1)};
  void for_each_parameter(auto&& visit) { visit("weight", weight); }
};

/// first -> second -> third, or, closed, back to first.
struct Chain {
  Parameter first{2, 2}, second{2, 2}, third{2, 2, Initializer::constant(3)};
  bool closed = false;
  void for_each_parameter(auto&& visit) {
    visit("first", first);
    visit("second", second);
    visit("third", third);
    visit.tie(first, second);
    visit.tie(second, third);
    if (closed) visit.tie(third, first);
  }
};

/// Ties a parameter before, or without, visiting both.
struct TiedEarly {
  Parameter first{2, 1}, second{2, 1};
  bool missing = false;
  void for_each_parameter(auto&& visit) {
    if (missing) visit("second", second);
    visit.tie(second, first);
    if (!missing) visit("first", first), visit("second", second);
  }
};

struct Nothing {
  void for_each_parameter(auto&&) {}
};

}  // namespace

TEST_CASE("parameters: are named by their path in model order") {
  Device device(1);
  Model model;
  const Parameters parameters(device, model, 1);
  std::vector<std::string> names;
  for (const auto& entry : parameters.entries()) names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"first.weight", "first.bias", "none", "second.weight", "second.bias", "table"});
  CHECK(parameters.count() == 15 + 3 + 0 + 15 + 3 + 70);
  CHECK(parameters.find("second.bias").rows == 3);
  CHECK(parameters.find("second.weight").cols == 5);
  CHECK(contains(error_of([&] { parameters.find("third.bias"); }), "no parameter named third.bias"));
}

TEST_CASE("parameters: share one buffer with aligned and disjoint ranges") {
  Device device(1);
  Model model;
  const Parameters parameters(device, model, 1);
  Index end = 0;
  for (const auto& entry : parameters.entries()) {
    CHECK(entry.offset % 64 == 0);
    CHECK(entry.offset >= end);
    end = entry.offset + entry.size();
  }
  CHECK(parameters.size() >= end);
  CHECK(model.second.bias.value == parameters.values() + parameters.find("second.bias").offset);
  CHECK(model.second.bias.gradient == parameters.gradients() + parameters.find("second.bias").offset);
  CHECK(parameters.compute() == parameters.values());
}

TEST_CASE("parameters: padding and gradients start at 0") {
  Device device(1);
  Model model;
  const Parameters parameters(device, model, 1);
  double sum = 0;
  for (const auto& entry : parameters.entries())
    for (const double number : parameters.read(entry)) sum += number * number;
  double all = 0, gradients = 0;
  for (Index i = 0; i < parameters.size(); ++i) {
    all += parameters.values()[i] * parameters.values()[i];
    gradients += std::abs(parameters.gradients()[i]);
  }
  CHECK(all == doctest::Approx(sum).epsilon(1e-14));
  CHECK(gradients == 0);
}

TEST_CASE("parameters: the seed determines the values") {
  Device device(1);
  Model a, b, c;
  const Parameters first(device, a, 5), second(device, b, 5), third(device, c, 6);
  for (const auto& entry : first.entries()) CHECK(first.read(entry) == second.read(entry));
  CHECK(first.read(first.find("first.weight")) != third.read(third.find("first.weight")));
  CHECK(first.read(first.find("first.weight")) != first.read(first.find("second.weight")));
  CHECK(first.read(first.find("first.bias")) == std::vector<double>(3, 0.25));
}

TEST_CASE("parameters: float and double models start with the same values") {
  Square<attn::Cpu<float>> single;
  Square<Device> twice;
  Device device(1);
  attn::Cpu<float> narrow(1);
  const attn::Parameters<attn::Cpu<float>> a(narrow, single, 3);
  const Parameters b(device, twice, 3);
  for (Index i = 0; i < 16; ++i) CHECK(a.values()[i] == static_cast<float>(b.values()[i]));
}

TEST_CASE("parameters: a tied parameter shares values and gradients and is stored once") {
  Device device(1);
  Model model;
  model.tied = true;
  const Parameters parameters(device, model, 1);
  CHECK(parameters.entries().size() == 5);
  CHECK(model.second.weight.value == model.first.weight.value);
  CHECK(model.second.weight.gradient == model.first.weight.gradient);
  CHECK(contains(error_of([&] { parameters.find("second.weight"); }), "second.weight"));
}

TEST_CASE("parameters: a chain of ties ends at its owner and cycles are errors") {
  Device device(1);
  Chain chain;
  const Parameters parameters(device, chain, 1);
  CHECK(parameters.entries().size() == 1);
  CHECK(chain.first.value == chain.third.value);
  CHECK(chain.second.gradient == chain.third.gradient);
  CHECK(chain.first.value[3] == 3);
  Chain circle;
  circle.closed = true;
  CHECK(contains(error_of([&] { Parameters(device, circle, 1); }), "tying third: it would be tied to itself"));
}

TEST_CASE("parameters: tying different shapes is an error that names both shapes") {
  Device device(1);
  Model model;
  model.tied = true;
  model.second.weight.rows = 4;
  const std::string sentence = error_of([&] { Parameters(device, model, 1); });
  CHECK(contains(sentence, "second.weight"));
  CHECK(contains(sentence, "4 x 5"));
  CHECK(contains(sentence, "3 x 5"));
}

TEST_CASE("parameters: tying before visiting both parameters is an error") {
  Device device(1);
  TiedEarly early, missing;
  missing.missing = true;
  for (TiedEarly* model : {&early, &missing})
    CHECK(contains(error_of([&] { Parameters(device, *model, 1); }), "Call visit.tie after visiting both parameters"));
}

TEST_CASE("parameters: written values are read back and used by the model") {
  Device device(1);
  Model model;
  Parameters parameters(device, model, 1);
  const auto& entry = parameters.find("second.bias");
  parameters.write(entry, {1, 2, 3});
  CHECK(parameters.read(entry) == std::vector<double>{1, 2, 3});
  CHECK(model.second.bias.value[2] == 3);
  model.second.bias.gradient[1] = 5;
  CHECK(parameters.read_gradient(entry) == std::vector<double>{0, 5, 0});
  const std::string sentence = error_of([&] { parameters.write(entry, {1, 2}); });
  CHECK(contains(sentence, "second.bias"));
  CHECK(contains(sentence, "2 numbers for a parameter of 3"));
}

TEST_CASE("parameters: an entry of a larger model is an error that names it") {
  Device device(1);
  Model model;
  Layer layer;
  Parameters large(device, model, 1), small(device, layer, 1);
  const auto& entry = large.find("table");
  const std::string sentence = "'table' is not a parameter of this model";
  CHECK(error_of([&] { small.read(entry); }) == sentence);
  CHECK(error_of([&] { small.read_gradient(entry); }) == sentence);
  CHECK(error_of([&] { small.write(entry, std::vector<double>(70)); }) == sentence);
}

TEST_CASE("parameters: a model without parameters has none") {
  Nothing nothing;
  Device device(1);
  const Parameters parameters(device, nothing, 1);
  CHECK(parameters.size() == 0);
  CHECK(parameters.count() == 0);
}
