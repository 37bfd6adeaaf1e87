#include "attn/nn/linear.hpp"

#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

TEST_CASE("linear: gradients of weight and bias and input match finite differences") {
  D device;
  Linear<D, 6, 5> layer;
  Input<D, 6> input(4);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  check_gradients(parameters, [&](Tape<D>& tape) { return mixture(tape, layer(input(tape))); });
}

TEST_CASE("linear: a column range equals columns of the full output and its gradients stay in its rows of W") {
  D device;
  Linear<D, 6, 9> layer;
  Input<D, 6> input(4);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 2);
  shake(parameters);
  {
    Tape<D> tape(device);
    const auto x = input(tape);
    const auto all = layer(x);
    const auto some = layer.outputs<3, 4>(x);
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j < 4; ++j) CHECK(some.value(i, j) == doctest::Approx(all.value(i, 3 + j)).epsilon(1e-14));
  }
  check_gradients(parameters, [&](Tape<D>& tape) { return mixture(tape, layer.outputs<3, 4>(input(tape))); });
  const auto gradient = parameters.read_gradient(parameters.find("0.weight"));
  for (std::size_t i = 0; i < 54; ++i) CHECK((gradient[i] != 0) == (i / 6 >= 3 && i / 6 < 7));
}

TEST_CASE("linear: initial weights follow Glorot's bound and the product matches known values") {
  D device;
  Linear<D, 2, 3> layer;
  Parameters<D> parameters(device, layer, 3);
  for (const double number : parameters.read(parameters.find("weight"))) CHECK(std::abs(number) <= std::sqrt(6.0 / 5));
  CHECK(parameters.read(parameters.find("bias")) == std::vector<double>{0, 0, 0});
  parameters.write(parameters.find("weight"), {1, 2, 3, 4, 5, 6});
  parameters.write(parameters.find("bias"), {10, 20, 30});
  Tape<D> tape(device);
  auto x = tape.make(1, 2);
  x.value(0, 0) = 1;
  x.value(0, 1) = -1;
  CHECK(rows_of(layer(x)) == std::vector<double>{9, 19, 29});
}

TEST_CASE("linear: accepts an empty batch") {
  D device;
  Linear<D, 6, 5> layer;
  Parameters<D> parameters(device, layer, 1);
  Tape<D> tape(device, TapeMode::gradients());
  const auto y = layer(tape.make(0, 6));
  CHECK(y.rows() == 0);
  tape.sink(y);
  tape.backward();
  for (const double number : parameters.read_gradient(parameters.find("weight"))) CHECK(number == 0);
}
