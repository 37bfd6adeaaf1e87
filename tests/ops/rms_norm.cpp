// layer_norm without centring: RMS normalisation.

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/ops/layer_norm.hpp"
#include "support/gradients.hpp"
#include "support/layer_norm_op.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

template <class T>
LayerNormOp<T> rms_norm(Cpu<T>& on, Index rows, Index width, bool with_branch = false, float rate = 0) {
  return LayerNormOp<T>(on, rows, width, with_branch, rate, 2, false);
}

}  // namespace

TEST_CASE_TEMPLATE("rms_norm: outputs and gradients match PyTorch for zero rows too", T, float, double) {
  Cpu<T> device(2);
  auto op = rms_norm<T>(device, 3, 4);
  op.x.write({1, 2, -3, 4, 0, 0, 0, 0, -0.5, 0.25, 8, 1});
  op.gain.write({1, -1, 2, 0.5});
  op.dy.write({1, 0, 2, -1, 1, 1, 1, 1, 0.5, -1, 0.25, 3});
  const double tolerance = sizeof(T) == 8 ? 1e-9 : 1e-6;  // epsilon is a float's 1e-5
  CHECK(distance(op.forward(), {0.3651481282381064, -0.7302962564762128, -2.1908887694286383, 0.7302962564762128, 0, 0, 0,
                                0, -0.12373760708701312, -0.06186880354350656, 3.95960342678442, 0.12373760708701312}) <=
        tolerance);
  const auto [dx, dbranch, dgain, dbias] = op.backward();
  const Numbers expected{0.5233787728337597,  0.31646128919130656, 0.9859005791654657,   0.45034851426355993,
                         316.2277660168379,   -316.2277660168379,  632.4555320336758,    158.11388300841895,
                         0.13415760972323845, 0.24226521285591357, -0.04298243509259214, 0.3503728159885887};
  for (std::size_t i = 0; i < 12; ++i) CHECK(dx[i] == doctest::Approx(expected[i]).epsilon(1e-5));
  CHECK(distance(dgain, {0.30327932469459984, -0.06186880354350656, -1.695938341080586, -0.7181668704303468}) <= tolerance);
}

TEST_CASE("rms_norm: gradients match finite differences") {
  Cpu<double> device(2);
  for (const Index width : {1, 2, 5, 16})
    for (const bool branch : {false, true})
      for (const float rate : {0.0f, 0.4f}) {
        CAPTURE(width);
        auto op = rms_norm<double>(device, 4, width, branch, rate);
        const auto loss = [&] { return dot(op.dy.read(), op.forward()); };
        op.forward();
        const auto [dx, dbranch, dgain, dbias] = op.backward();
        check_gradient("x", op.x, dx, loss);
        if (branch) check_gradient("branch", op.branch, dbranch, loss);
        check_gradient("gain", op.gain, dgain, loss);
      }
}

TEST_CASE_TEMPLATE("rms_norm: does not depend on the number of threads and accepts no rows", T, float, double) {
  check_threads<T>([&](Cpu<T>& device) {
    auto op = rms_norm<T>(device, 101, 33, true, 0.1f);
    const Numbers y = op.forward();
    const auto [dx, dbranch, dgain, dbias] = op.backward();
    return joined({y, dx, dbranch, dgain});
  });
  Cpu<T> device(2);
  auto none = rms_norm<T>(device, 0, 5);
  CHECK(none.forward().empty());
  CHECK(none.backward().dgain == Numbers(5, 0));
}
