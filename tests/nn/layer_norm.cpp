#include "attn/nn/layer_norm.hpp"

#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

TEST_CASE("layer norm: gradients of gain and bias and input match finite differences") {
  D device;
  LayerNorm<D, 6> layer;
  Input<D, 6> input(5);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  check_gradients(parameters, [&](Tape<D>& tape) { return mixture(tape, layer(input(tape))); });
}

TEST_CASE("layer norm: initial rows have mean 0 and variance 1 and constant rows become 0") {
  D device;
  LayerNorm<D, 4> layer;
  Parameters<D> parameters(device, layer, 1);
  Tape<D> tape(device);
  auto x = tape.make(2, 4);
  for (Index j = 0; j < 4; ++j) x.value(0, j) = static_cast<double>(j), x.value(1, j) = 7;
  const auto y = layer(x);
  const double deviation = std::sqrt(1.25 + 1e-5);
  for (Index j = 0; j < 4; ++j) {
    CHECK(y.value(0, j) == doctest::Approx((static_cast<double>(j) - 1.5) / deviation).epsilon(1e-10));
    CHECK(y.value(1, j) == 0);
  }
}
