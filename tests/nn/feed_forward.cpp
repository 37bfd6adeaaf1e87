#include "attn/nn/feed_forward.hpp"

#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

TEST_CASE_TEMPLATE("feed forward: gradients of all parameters and the input match finite differences", Activation, Relu,
                   Gelu, GeluExact, Swish) {
  D device;
  FeedForward<D, 6, 10, Activation> layer(0.4f);
  Input<D, 6> input(5);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const auto loss = [&](Tape<D>& tape) { return mixture(tape, layer(input(tape))); };
  check_gradients(parameters, loss, TapeMode::gradients(), 100);
  check_gradients(parameters, loss, TapeMode::training(1, 1), 100);
}

TEST_CASE("feed forward: equals two linear layers with a ReLU between them") {
  D device;
  FeedForward<D, 6, 10> layer;
  Input<D, 6> input(5);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 2);
  shake(parameters);
  Tape<D> tape(device);
  const auto x = input(tape);
  const auto y = layer(x);
  auto h = layer.up(x);
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 10; ++j) h.value(i, j) = std::max(h.value(i, j), 0.0);
  CHECK(largest_difference(rows_of(y), rows_of(layer.down(h))) < 1e-14);
}

TEST_CASE_TEMPLATE("feed forward: supports any activation and an unfused ReLU", Activation, Relu, Gelu, GeluExact, Swish) {
  D device;
  FeedForward<D, 6, 10, Activation> layer;
  Input<D, 6> input(5);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 2);
  shake(parameters);
  Tape<D> tape(device);
  const auto x = input(tape);
  const auto apart = layer.down(apply<Activation>(layer.up(x)));
  CHECK(largest_difference(rows_of(layer(x)), rows_of(apart)) < 1e-14);
}
