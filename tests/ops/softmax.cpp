#include "attn/ops/reductions.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/reference.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

/// Softmax of random rows, with a mask or without.
template <class T>
struct SoftmaxOp {
  Cpu<T>& device;
  bool log;
  attn::RaggedMask mask;
  Tensor<Cpu<T>> x, dy;

  SoftmaxOp(Cpu<T>& on, Index rows, Index cols, bool logarithm, attn::RaggedMask masked = {})
      : device(on),
        log(logarithm),
        mask(masked),
        x(on, rows, cols, random_numbers(rows * cols, 1, 3), 2),
        dy(on, rows, cols, random_numbers(rows * cols, 2), 1) {}

  Numbers y() {
    const Tensor<Cpu<T>> result(device, x.rows(), x.cols(), kUnset, 3);
    softmax(device, {.x = x, .y = result, .log = log, .mask = mask});
    CHECK(result.outside_untouched());
    return result.read();
  }
  Numbers dx(bool add = false, double start = kUnset) {
    const Tensor<Cpu<T>> result(device, x.rows(), x.cols(), start, 3), forward(device, x.rows(), x.cols(), y());
    softmax_gradient(device, {.y = forward, .dy = dy, .dx = {result, add}, .log = log, .mask = mask});
    CHECK(result.outside_untouched());
    return result.read();
  }
};

const double kNan = std::nan(""), kInfinity = HUGE_VAL;

}  // namespace

TEST_CASE_TEMPLATE("softmax: softmax and log-softmax and their gradients match PyTorch", T, float, double) {
  Cpu<T> device(2);
  for (const bool log : {false, true}) {
    const std::string name = log ? "log_softmax" : "softmax";
    CAPTURE(name);
    SoftmaxOp<T> op(device, 5, 7, log);
    op.x.write(reference(name + "/x"));
    op.dy.write(reference(name + "/gradient/y"));
    CHECK(distance(op.y(), reference(name + "/y")) <= kReferenceTolerance<T>);
    CHECK(distance(op.dx(), reference(name + "/gradient/x")) <= kReferenceTolerance<T>);
  }
}

TEST_CASE("softmax: small inputs match known values") {
  Cpu<double> device(1);
  SoftmaxOp<double> plain(device, 2, 3, false), log(device, 2, 3, true);
  plain.x.write({0, std::log(2), std::log(5), 7, 7, 7});
  log.x.write(plain.x.read());
  CHECK(distance(plain.y(), {0.125, 0.25, 0.625, 1 / 3.0, 1 / 3.0, 1 / 3.0}) <= 1e-15);
  CHECK(distance(log.y(), {-std::log(8), -std::log(4), std::log(0.625), -std::log(3), -std::log(3), -std::log(3)}) <=
        1e-15);
  plain.dy.write({1, 0, 0, 3, 3, 3});
  CHECK(distance(plain.dx(), {0.125 * 0.875, -0.125 * 0.25, -0.125 * 0.625, 0, 0, 0}) <= 1e-15);
}

TEST_CASE("softmax: masked columns are 0 and never read and a row without columns is 0") {
  Cpu<double> device(2);
  const Layout<Cpu<double>> queries(device, {2, 0, 1}, 1), keys(device, {2, 3, 0});
  SoftmaxOp<double> op(device, queries.rows(), 3, false, {queries, keys, false});
  op.x.write({0, 0, kNan, std::log(3), 0, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan});
  op.dy.write({4, 0, kNan, 4, 0, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan});
  const Numbers zeros(12, 0);
  CHECK(distance(op.y(), joined({{0.5, 0.5, 0, 0.75, 0.25, 0}, zeros})) <= 1e-15);
  CHECK(distance(op.dx(), joined({{1, -1, 0, 0.75, -0.75, 0}, zeros})) <= 1e-15);
  op.log = true;
  CHECK(distance(op.y(), joined({{-std::log(2), -std::log(2), 0, std::log(0.75), -std::log(4), 0}, zeros})) <= 1e-15);
  CHECK(distance(op.dx(), joined({{2, -2, 0, 1, -1, 0}, zeros})) <= 1e-14);
}

TEST_CASE("softmax: the causal mask is aligned to the end of the keys") {
  Cpu<double> device(2);
  const Layout<Cpu<double>> queries(device, {2, 3, 1}), keys(device, {3, 2, 0});
  SoftmaxOp<double> op(device, 6, 4, false, {queries, keys, true});
  op.x.write(Numbers(24, 1));
  const double third = 1 / 3.0;
  CHECK(distance(op.y(), {0.5, 0.5, 0, 0, third, third, third, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0}) <=
        1e-15);
}

TEST_CASE("softmax: gradients match finite differences") {
  Cpu<double> device(2);
  const Layout<Cpu<double>> queries(device, {2, 0, 3, 1}, 1), keys(device, {3, 2, 2, 0});
  for (const bool log : {false, true}) {
    const auto check = [&](SoftmaxOp<double> op) {
      check_gradient("x", op.x, op.dx(), [&] { return dot(op.dy.read(), op.y()); });
    };
    for (const Index cols : {1, 3, 17}) check(SoftmaxOp<double>(device, 4, cols, log));
    for (const bool causal : {false, true})
      check(SoftmaxOp<double>(device, queries.rows(), 5, log, {queries, keys, causal}));
  }
}

TEST_CASE("softmax: the gradient overwrites or accumulates") {
  Cpu<double> device(2);
  const Layout<Cpu<double>> queries(device, {2, 3}, 1), keys(device, {3, 2});
  for (const bool log : {false, true})
    for (const attn::RaggedMask& mask : {attn::RaggedMask{}, attn::RaggedMask{queries, keys, true}}) {
      SoftmaxOp<double> op(device, queries.rows(), 4, log, mask);
      CHECK(distance(op.dx(true, 2), sum_of(op.dx(), Numbers(28, 2))) <= 1e-14);
    }
}

TEST_CASE_TEMPLATE("softmax: huge values give finite results and a row of -inf gives 0", T, float, double) {
  Cpu<T> device(1);
  SoftmaxOp<T> op(device, 4, 3, false), log(device, 4, 3, true);
  const Numbers x{1e4, 1e4, -1e4, 1e30, 0, -1e30, -kInfinity, 5, 5, -kInfinity, -kInfinity, -kInfinity};
  op.x.write(x);
  log.x.write(x);
  CHECK(distance(op.y(), {0.5, 0.5, 0, 1, 0, 0, 0, 0.5, 0.5, 0, 0, 0}) <= 1e-7);
  const Numbers y = log.y();
  CHECK(distance({y[0], y[1], y[7], y[8]}, Numbers(4, -std::log(2))) <= 1e-7);
  CHECK(y[2] == doctest::Approx(-2e4 - std::log(2)).epsilon(1e-6));
  CHECK(y[4] == doctest::Approx(-1e30));
  CHECK(y[6] == -kInfinity);
  CHECK(distance({y[9], y[10], y[11]}, Numbers(3, 0)) == 0);
  for (const double number : op.dx()) CHECK(std::isfinite(number));
  for (const double number : log.dx()) CHECK(std::isfinite(number));
}

TEST_CASE("softmax: accepts no rows and no columns") {
  Cpu<double> device(2);
  CHECK(SoftmaxOp<double>(device, 0, 3, false).dx().empty());
  CHECK(SoftmaxOp<double>(device, 3, 0, true).dx().empty());
}

TEST_CASE("softmax: an incompatible mask is an Error") {
  Cpu<double> device(1);
  const Layout<Cpu<double>> one(device, {2}), two(device, {1, 1});
  CHECK(contains(error_of([&] {
                   SoftmaxOp<double>(device, 2, 1, false, {one, one}).y();
                 }),
                 "2 keys, but the matrix has 1"));
  CHECK(contains(error_of([&] {
                   SoftmaxOp<double>(device, 2, 2, false, {one, two}).dx();
                 }),
                 "the same sentences for both"));
}

TEST_CASE_TEMPLATE("softmax: results do not depend on the number of threads", T, float, double) {
  for (const bool log : {false, true})
    check_threads<T>([&](Cpu<T>& device) {
      const Layout<Cpu<T>> queries(device, {30, 7, 0, 61}), keys(device, {20, 9, 3, 70});
      SoftmaxOp<T> masked(device, 98, 70, log, {queries, keys, true}), wide(device, 40, 1000, log);
      return joined({masked.y(), masked.dx(), wide.y(), wide.dx()});
    });
}
