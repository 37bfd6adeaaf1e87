#include "attn/nn/feed_forward.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

TEST_CASE_TEMPLATE("gated feed forward: gradients of all parameters and the input match finite differences", Policy, SwiGlu,
                   GeGlu) {
  D device;
  FeedForwardOf<Policy, D, 6, 10> layer(0.4f);
  Input<D, 6> input(5);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const auto loss = [&](Tape<D>& tape) { return mixture(tape, layer(input(tape))); };
  check_gradients(parameters, loss, TapeMode::gradients(), 100);
  check_gradients(parameters, loss, TapeMode::training(1, 1), 100);
}

TEST_CASE("gated feed forward: SwiGLU matches known values") {
  D device;
  GatedFeedForward<D, 1, 2> layer;
  Parameters<D> parameters(device, layer, 1);
  CHECK(parameters.entries().size() == 3);  // no biases
  parameters.write(parameters.find("gate.weight"), {1, -2});
  parameters.write(parameters.find("up.weight"), {3, 5});
  parameters.write(parameters.find("down.weight"), {0.5, 7});
  Tape<D> tape(device);
  const auto x = tape.make(2, 1);
  x.value(0, 0) = 2, x.value(1, 0) = -1;
  const auto y = layer(x);
  const auto silu = [](double z) { return z / (1 + std::exp(-z)); };
  CHECK(y.value(0, 0) == doctest::Approx(0.5 * silu(2) * 6 + 7 * silu(-4) * 10).epsilon(1e-14));
  CHECK(y.value(1, 0) == doctest::Approx(0.5 * silu(-1) * -3 + 7 * silu(2) * -5).epsilon(1e-14));
}

TEST_CASE("gated feed forward: any function can gate and run-time sizes equal static ones") {
  D device;
  GatedFeedForward<D, 6, 10, functions::GeluExact> fixed;
  GatedFeedForward<D, dynamic, dynamic, functions::GeluExact> open(6, 10);
  Input<D, 6> input(5);
  Together model(fixed, open, input);
  Parameters<D> parameters(device, model, 2);
  shake(parameters);
  for (const char* name : {"gate.weight", "up.weight", "down.weight"})
    parameters.write(parameters.find(std::string("1.") + name), parameters.read(parameters.find(std::string("0.") + name)));
  Tape<D> tape(device);
  const auto x = input(tape);
  const auto y = rows_of<D>(fixed(x));
  CHECK(y == rows_of<D>(open(x)));
  const Variable<D> apart = fixed.down(Variable<D>(gelu_exact(fixed.gate(x)) * fixed.up(x)));
  CHECK(largest_difference(y, rows_of<D>(apart)) < 1e-15);
}

TEST_CASE("gated feed forward: the error for a wrong input width names both widths") {
  D device;
  GatedFeedForward<D> layer(6, 10);
  Parameters<D> parameters(device, layer, 1);
  Tape<D> tape(device);
  const std::string said = complaint([&] { layer(tape.make(3, 5)); });
  CHECK(said.find("6 columns") != std::string::npos);
  CHECK(said.find("5") != std::string::npos);
}
