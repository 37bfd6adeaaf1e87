#include "attn/nn/residual.hpp"

#include "attn/nn/linear.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

TEST_CASE_TEMPLATE("residual: gradients of the norm and sub-layer and input match finite differences", Norm, PostNorm,
                   PreNorm, PostNormOf<RmsNorm>, PreNormOf<RmsNorm>) {
  D device;
  Residual<D, 6, Norm> layer(0.3f);
  Linear<D, 6, 6> inner;
  Input<D, 6> input(5);
  Together model(layer, inner, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const auto loss = [&](Tape<D>& tape) { return mixture(tape, layer(input(tape), [&](auto x) { return inner(x); })); };
  check_gradients(parameters, loss);
  check_gradients(parameters, loss, TapeMode::training(1, 1));
}

TEST_CASE_TEMPLATE("residual: a sub-layer that returns its input accumulates both gradients", Norm, PostNorm, PreNorm,
                   PostNormOf<RmsNorm>, PreNormOf<RmsNorm>) {
  D device;
  Residual<D, 6, Norm> layer(0.3f);
  Input<D, 6> input(5);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  check_gradients(
      parameters, [&](Tape<D>& tape) { return mixture(tape, layer(input(tape), [](auto x) { return x; })); },
      TapeMode::training(1, 1));
}

TEST_CASE("residual: policies place the norm") {
  D device;
  Residual<D, 4, PostNorm> post;
  Residual<D, 4, PreNorm> pre;
  Input<D, 4> input(3);
  Together model(post, pre, input);
  Parameters<D> parameters(device, model, 1);
  Tape<D> tape(device);
  const auto x = input(tape);
  const auto twice = [&](Variable<D, 4> in) {
    auto y = tape.make(in.rows(), 4);
    for (Index i = 0; i < in.rows(); ++i)
      for (Index j = 0; j < 4; ++j) y.value(i, j) = 2 * in.value(i, j);
    return y;
  };
  const auto normal = pre.norm(x), after = post(x, twice), before = pre(x, twice);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j) {
      CHECK(before.value(i, j) == doctest::Approx(x.value(i, j) + 2 * normal.value(i, j)).epsilon(1e-12));
      CHECK(after.value(i, j) == doctest::Approx(normal.value(i, j)).epsilon(1e-3));  // of 3x: the same but for epsilon
    }
}

TEST_CASE("residual: RMS norm has a gain and no bias and gives rows a mean square of 1") {
  D device;
  Residual<D, 4, PostNormOf<RmsNorm>> layer;
  Parameters<D> parameters(device, layer, 1);
  CHECK(parameters.entries().size() == 1);
  Tape<D> tape(device);
  auto x = tape.make(1, 4);
  for (Index j = 0; j < 4; ++j) x.value(0, j) = static_cast<double>(j);
  const auto y = layer(x, [](auto in) { return in; });  // of 2x
  for (Index j = 0; j < 4; ++j)
    CHECK(y.value(0, j) == doctest::Approx(2 * static_cast<double>(j) / std::sqrt(14 + 1e-5)).epsilon(1e-8));
}
