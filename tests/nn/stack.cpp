#include "attn/nn/stack.hpp"

#include "attn/nn/linear.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

TEST_CASE("stack: each layer has its own named parameters and gradients") {
  D device;
  Stack<Linear<D, 6, 6>, 3> layers(3);
  Input<D, 6> input(4);
  Together model(layers, input);
  Parameters<D> parameters(device, model, 1);
  std::vector<std::string> names;
  for (const auto& entry : parameters.entries()) names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"0.0.weight", "0.0.bias", "0.1.weight", "0.1.bias", "0.2.weight", "0.2.bias",
                                          "1.numbers"});
  CHECK(parameters.read(parameters.entries()[0]) != parameters.read(parameters.entries()[2]));
  shake(parameters);
  check_gradients(parameters, [&](Tape<D>& tape) {
    auto x = input(tape);
    for (const auto& layer : layers) x = layer(x);
    return mixture(tape, x);
  });
}

TEST_CASE("stack: every layer is built from the same arguments") {
  struct Layer {
    int number;
    float rate;
    Layer(int n, float r) : number(n), rate(r) {}
  };
  const Stack<Layer, 2> layers(2, 3, 0.5f);
  CHECK(layers.size() == 2);
  for (const Layer& layer : layers) {
    CHECK(layer.number == 3);
    CHECK(layer.rate == 0.5f);
  }
}
