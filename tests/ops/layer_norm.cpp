#include "attn/ops/layer_norm.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/layer_norm_op.hpp"
#include "support/reference.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

TEST_CASE_TEMPLATE("layer_norm: outputs and gradients match PyTorch", T, float, double) {
  Cpu<T> device(2);
  LayerNormOp<T> op(device, 5, 8);
  op.x.write(reference("layer_norm/x"));
  op.gain.write(reference("layer_norm/gain"));
  op.bias.write(reference("layer_norm/bias"));
  op.dy.write(reference("layer_norm/gradient/y"));
  CHECK(distance(op.forward(), reference("layer_norm/y")) <= kReferenceTolerance<T>);
  const auto [dx, dbranch, dgain, dbias] = op.backward();
  CHECK(distance(dx, reference("layer_norm/gradient/x")) <= kReferenceTolerance<T>);
  CHECK(distance(dgain, reference("layer_norm/gradient/gain")) <= kReferenceTolerance<T>);
  CHECK(distance(dbias, reference("layer_norm/gradient/bias")) <= kReferenceTolerance<T>);
}

TEST_CASE("layer_norm: small inputs match a manual calculation") {
  Cpu<double> device(1);
  LayerNormOp<double> op(device, 1, 4, true);
  op.x.write({1, 2, 0, 4});
  op.branch.write({0, 0, 3, 4});
  op.gain.write({1, 1, 2, 1});
  op.bias.write({0, 0, 0, 10});
  const double deviation = std::sqrt(7.25 + static_cast<double>(1e-5f));  // of 1, 2, 3, 8, whose mean is 3.5
  CHECK(distance(op.forward(), {-2.5 / deviation, -1.5 / deviation, -1 / deviation, 10 + 4.5 / deviation}) <= 1e-14);
  CHECK(op.z.read() == Numbers{1, 2, 3, 8});
  CHECK(op.mean.read() == Numbers{3.5});
}

TEST_CASE("layer_norm: does not write z without a branch") {
  Cpu<double> device(1);
  LayerNormOp<double> op(device, 2, 3);
  op.forward();
  for (const double number : op.z.read()) CHECK(std::isnan(number));
}

TEST_CASE_TEMPLATE("layer_norm: z is optional", T, float, double) {
  Cpu<T> device(2);
  for (const Index width : {5, 32}) {
    LayerNormOp<T> op(device, 20, width, true, 0.3f);
    const Numbers with = op.forward();
    layer_norm(device, {.x = op.x,
                        .branch = op.branch,
                        .dropout = op.dropout,
                        .gain = op.gain.data(),
                        .bias = op.bias.data(),
                        .y = op.y,
                        .mean = op.mean.data(),
                        .inverse_deviation = op.inverse.data()});
    CHECK(op.y.read() == with);
  }
}

TEST_CASE("layer_norm: gradients match finite differences") {
  Cpu<double> device(2);
  for (const Index width : {1, 2, 5, 7, 16})
    for (const bool branch : {false, true})
      for (const float rate : {0.0f, 0.4f}) {
        CAPTURE(width);
        LayerNormOp<double> op(device, 4, width, branch, rate, 2);
        const auto loss = [&] { return dot(op.dy.read(), op.forward()); };
        op.forward();
        const auto [dx, dbranch, dgain, dbias] = op.backward();
        check_gradient("x", op.x, dx, loss);
        if (branch) check_gradient("branch", op.branch, dbranch, loss);
        check_gradient("gain", op.gain, dgain, loss);
        check_gradient("bias", op.bias, dbias, loss);
      }
}

TEST_CASE("layer_norm: input gradients overwrite or accumulate and parameter gradients always accumulate") {
  Cpu<double> device(2);
  LayerNormOp<double> op(device, 20, 5, true, 0.3f);
  op.forward();
  const auto once = op.backward();
  const auto more = op.backward(true, 2, 3);
  CHECK(distance(more.dx, sum_of(once.dx, Numbers(100, 2))) <= 1e-14);
  CHECK(distance(more.dbranch, sum_of(once.dbranch, Numbers(100, 2))) <= 1e-14);
  CHECK(distance(more.dgain, sum_of(once.dgain, Numbers(5, 3))) <= 1e-13);
  CHECK(distance(more.dbias, sum_of(once.dbias, Numbers(5, 3))) <= 1e-13);
}

TEST_CASE("layer_norm: dropped values of the branch have gradient 0") {
  Cpu<double> device(1);
  LayerNormOp<double> op(device, 30, 7, true, 0.5f);
  op.forward();
  const Numbers x = op.x.read(), z = op.z.read(), dbranch = op.backward().dbranch;
  int dropped = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    CHECK((z[i] == x[i]) == (dbranch[i] == 0));
    dropped += z[i] == x[i];
  }
  CHECK(std::abs(dropped - 105) < 30);
}

TEST_CASE_TEMPLATE("layer_norm: constant rows give the bias and no rows give nothing", T, float, double) {
  Cpu<T> device(2);
  LayerNormOp<T> flat(device, 3, 5), none(device, 0, 5, true);
  flat.x.write(Numbers(15, 4));
  const Numbers bias = flat.bias.read();
  CHECK(flat.forward() == joined({bias, bias, bias}));
  CHECK(none.forward().empty());
  CHECK(none.backward(false, kUnset, 3).dgain == Numbers(5, 3));
}

TEST_CASE("layer_norm: float is accurate far from 0 and finite where squares overflow") {
  Cpu<float> device(1);
  LayerNormOp<float> op(device, 1, 4);
  op.gain.write({1, 1, 1, 1});
  op.bias.write({0, 0, 0, 0});
  op.x.write({10001, 10002, 10003, 10004});
  CHECK(distance(op.forward(), {-1.3416354, -0.4472118, 0.4472118, 1.3416354}) <= 1e-5);
  op.x.write({1e15, 2e15, 3e15, 4e15});
  CHECK(distance(op.forward(), {-1.3416408, -0.4472136, 0.4472136, 1.3416408}) <= 1e-5);
  op.x.write({1e30, -1e30, 2e30, -2e30});
  const Numbers y = op.forward();
  const auto [dx, dbranch, dgain, dbias] = op.backward();
  CHECK(std::isfinite(dot(y, y) + dot(dx, dx) + dot(dgain, dgain) + dot(dbias, dbias)));
}

TEST_CASE_TEMPLATE("layer_norm: results do not depend on the number of threads", T, float, double) {
  for (const Index width : {7, 200})
    check_threads<T>([&](Cpu<T>& device) {
      LayerNormOp<T> op(device, 101, width, true, 0.1f);
      const Numbers y = op.forward();
      const auto [dx, dbranch, dgain, dbias] = op.backward();
      return joined({y, op.z.read(), dx, dbranch, dgain, dbias});
    });
}
