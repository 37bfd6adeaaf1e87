#include "attn/ops/linear.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/reference.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

/// y of some operands, and the gradients for a given dy, added to `start` where the op accumulates.
template <class T>
struct Linear {
  Cpu<T>& device;
  Tensor<Cpu<T>> x, weight, bias, dy;
  bool relu = false;

  Linear(Cpu<T>& on, Index rows, Index in, Index out, Index gap = 0)
      : device(on),
        x(on, rows, in, random_numbers(rows * in, 1), gap),
        weight(on, out, in, random_numbers(out * in, 2)),
        bias(on, 1, out, random_numbers(out, 3)),
        dy(on, rows, out, random_numbers(rows * out, 4), gap) {}

  Numbers y(Index gap = 0) {
    Tensor<Cpu<T>> result(device, dy.rows(), dy.cols(), kUnset, gap);
    linear(device, {.x = x, .weight = weight, .bias = bias.data(), .y = result, .relu = relu});
    CHECK(result.outside_untouched());
    return result.read();
  }
  Numbers dx(bool add = false, double start = kUnset, float scale = 1, Index gap = 0) {
    Tensor<Cpu<T>> result(device, x.rows(), x.cols(), start, gap);
    linear_input_gradient(device, {.dy = dy, .weight = weight, .dx = {result, add}, .scale = scale});
    CHECK(result.outside_untouched());
    return result.read();
  }
  std::pair<Numbers, Numbers> dweight_dbias(double start = 0) {
    Tensor<Cpu<T>> dweight(device, weight.rows(), weight.cols(), start), dbias(device, 1, bias.cols(), start);
    linear_weight_gradient(device, {.dy = dy, .x = x, .dweight = dweight, .dbias = dbias.data()});
    return {dweight.read(), dbias.read()};
  }
};

}  // namespace

TEST_CASE_TEMPLATE("linear: outputs and gradients match PyTorch", T, float, double) {
  Cpu<T> device(2);
  Linear<T> op(device, 5, 6, 7);
  op.x.write(reference("linear/x"));
  op.weight.write(reference("linear/weight"));
  op.bias.write(reference("linear/bias"));
  op.dy.write(reference("linear/gradient/y"));
  const auto [dweight, dbias] = op.dweight_dbias();
  constexpr double kTolerance = kReferenceTolerance<T>;
  CHECK(distance(op.y(), reference("linear/y")) <= kTolerance);
  CHECK(distance(op.dx(), reference("linear/gradient/x")) <= kTolerance);
  CHECK(distance(dweight, reference("linear/gradient/weight")) <= kTolerance);
  CHECK(distance(dbias, reference("linear/gradient/bias")) <= kTolerance);
}

TEST_CASE_TEMPLATE("linear: ReLU and its gated input gradient match PyTorch", T, float, double) {
  Cpu<T> device(2);
  Linear<T> op(device, 5, 6, 7);
  op.relu = true;
  op.x.write(reference("linear_relu/x"));
  op.weight.write(reference("linear_relu/weight"));
  op.bias.write(reference("linear_relu/bias"));
  const Numbers y = op.y();
  CHECK(distance(y, reference("linear_relu/y")) <= kReferenceTolerance<T>);

  // The gate belongs to the product after the ReLU; with the unit matrix as its weight it is the ReLU's gradient alone.
  Tensor<Cpu<T>> gate(device, 5, 7, y), unit(device, 7, 7, 0.0), dh(device, 5, 7);
  for (Index i = 0; i < 7; ++i) unit.view()(i, i) = 1;
  op.dy.write(reference("linear_relu/gradient/y"));
  linear_input_gradient(device, {.dy = op.dy, .weight = unit, .dx = {dh}, .gate = gate});
  op.dy.write(dh.read());
  const auto [dweight, dbias] = op.dweight_dbias();
  CHECK(distance(op.dx(), reference("linear_relu/gradient/x")) <= kReferenceTolerance<T>);
  CHECK(distance(dweight, reference("linear_relu/gradient/weight")) <= kReferenceTolerance<T>);
  CHECK(distance(dbias, reference("linear_relu/gradient/bias")) <= kReferenceTolerance<T>);
}

TEST_CASE("linear: small inputs match a manual calculation") {
  Cpu<double> device(1);
  Tensor<Cpu<double>> x(device, 2, 2, {1, 2, 3, 4}), weight(device, 3, 2, {1, 0, 0, -1, 1, 1}), y(device, 2, 3);
  linear(device, {.x = x, .weight = weight, .y = y});
  CHECK(y.read() == Numbers{1, -2, 3, 3, -4, 7});
  linear(device, {.x = x, .weight = weight, .y = y, .relu = true});
  CHECK(y.read() == Numbers{1, 0, 3, 3, 0, 7});
}

TEST_CASE("linear: gradients match finite differences") {
  Cpu<double> device(2);
  const Index shapes[][3] = {{1, 1, 1}, {3, 5, 7}, {9, 7, 5}, {2, 3, 70}, {40, 2, 3}};
  for (const auto& shape : shapes)
    for (const Index gap : {0, 3}) {
      const Index rows = shape[0], in = shape[1], out = shape[2];
      CAPTURE(rows);
      Linear<double> op(device, rows, in, out, gap);
      const auto loss = [&] { return dot(op.dy.read(), op.y(gap)); };
      const auto [dweight, dbias] = op.dweight_dbias();
      check_gradient("x", op.x, op.dx(false, kUnset, 1, gap), loss);
      check_gradient("weight", op.weight, dweight, loss);
      check_gradient("bias", op.bias, dbias, loss);
    }
}

TEST_CASE_TEMPLATE("linear: gradients overwrite or accumulate and scale", T, float, double) {
  Cpu<T> device(2);
  Linear<T> op(device, 6, 5, 7);
  const Numbers dx = op.dx();
  const auto [dweight, dbias] = op.dweight_dbias();
  const auto [more_dweight, more_dbias] = op.dweight_dbias(10);
  CHECK(distance(op.dx(true, 10), sum_of(dx, Numbers(30, 10))) <= kReferenceTolerance<T>);
  CHECK(distance(more_dweight, sum_of(dweight, Numbers(35, 10))) <= kReferenceTolerance<T>);
  CHECK(distance(more_dbias, sum_of(dbias, Numbers(7, 10))) <= kReferenceTolerance<T>);
  CHECK(distance(op.dx(false, kUnset, 2), sum_of(dx, dx)) <= kReferenceTolerance<T>);
}

TEST_CASE("linear: no rows give no output and leave parameter gradients unchanged") {
  Cpu<double> device(2);
  Linear<double> op(device, 0, 5, 7);
  CHECK(op.y().empty());
  CHECK(op.dx().empty());
  const auto [dweight, dbias] = op.dweight_dbias(3);
  CHECK(dweight == Numbers(35, 3));
  CHECK(dbias == Numbers(7, 3));
}

TEST_CASE_TEMPLATE("linear: results do not depend on the number of threads", T, float, double) {
  const Index shapes[][3] = {{100, 16, 32}, {7, 48, 200}, {50, 37, 131}, {33, 300, 97},
                             {5, 64, 8000}, {301, 5, 7},  {90, 64, 64},  {1, 512, 512}};
  for (const auto& shape : shapes) {
    const Index rows = shape[0], in = shape[1], out = shape[2];
    CAPTURE(rows);
    CAPTURE(in);
    CAPTURE(out);
    check_threads<T>([&](Cpu<T>& device) { return Linear<T>(device, rows, in, out).y(); });
    check_threads<T>([&](Cpu<T>& device) { return Linear<T>(device, rows, in, out).dx(); });
    check_threads<T>([&](Cpu<T>& device) {
      const auto [dweight, dbias] = Linear<T>(device, rows, in, out).dweight_dbias();
      return joined({dweight, dbias});
    });
  }
}
