#include "attn/ops/cross_entropy.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/reference.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

/// The divergence of softmax(logits) from given probabilities.
template <class T>
struct KlDivergence {
  Cpu<T>& device;
  Tensor<Cpu<T>> logits, target;
  double scale = 0.5, gradient_scale = 1;

  KlDivergence(Cpu<T>& on, Index rows, Index classes)
      : device(on),
        logits(on, rows, classes, random_numbers(rows * classes, 1, 3), 2),
        target(on, rows, classes, random_numbers(rows * classes, 2), 1) {
    Numbers p = target.read();
    for (double& share : p) share = std::max(0.0, share);  // some are 0, and rows do not sum to 1
    target.write(p);
  }

  double loss(double start = 0) {
    const Tensor<Cpu<T>> y(device, 1, 1, start);
    kl_divergence(device, {.logits = logits, .target = target, .scale = scale, .y = y.data()});
    return y.read()[0];
  }
  Numbers dlogits(bool add = false, double start = kUnset) {
    const Tensor<Cpu<T>> result(device, logits.rows(), logits.cols(), start, 3), y(device, 1, 1, 0.0);
    kl_divergence(
        device,
        {.logits = logits, .target = target, .gradient_scale = gradient_scale, .y = y.data(), .dlogits = {result, add}});
    CHECK(result.outside_untouched());
    return result.read();
  }
};

}  // namespace

TEST_CASE_TEMPLATE("kl_divergence: value and gradient match PyTorch", T, float, double) {
  Cpu<T> device(2);
  KlDivergence<T> op(device, 4, 6);
  op.logits.write(reference("kl_divergence/logits"));
  op.target.write(reference("kl_divergence/target"));
  op.gradient_scale = reference("kl_divergence/gradient/y")[0];
  op.scale = 1;
  CHECK(std::abs(op.loss() - reference("kl_divergence/y")[0]) <= 4 * kReferenceTolerance<T>);
  CHECK(distance(op.dlogits(), reference("kl_divergence/gradient/logits")) <= kReferenceTolerance<T>);
}

TEST_CASE("kl_divergence: 0 log 0 is 0 and the loss accumulates") {
  Cpu<double> device(1);
  KlDivergence<double> op(device, 2, 2);
  op.logits.write({0, std::log(3), -HUGE_VAL, 5});
  op.target.write({0.5, 0.5, 0, 1});
  const double right = 0.5 * std::log(0.5 / 0.25) + 0.5 * std::log(0.5 / 0.75);
  CHECK(op.loss(10) == doctest::Approx(10 + 0.5 * right).epsilon(1e-14));
  CHECK(distance(op.dlogits(), {-0.25, 0.25, 0, 0}) <= 1e-15);
}

TEST_CASE("kl_divergence: of a distribution from itself is 0") {
  Cpu<double> device(1);
  KlDivergence<double> op(device, 1, 3);
  op.target.write({0.2, 0.3, 0.5});
  op.logits.write({7 + std::log(0.2), 7 + std::log(0.3), 7 + std::log(0.5)});
  CHECK(std::abs(op.loss()) <= 1e-15);
  CHECK(distance(op.dlogits(), {0, 0, 0}) <= 1e-15);
}

TEST_CASE("kl_divergence: the gradient matches finite differences and overwrites or accumulates") {
  Cpu<double> device(2);
  for (const Index classes : {1, 3, 17}) {
    KlDivergence<double> op(device, 4, classes);
    const Numbers gradient = op.dlogits();
    check_gradient("logits", op.logits, gradient, [&] { return 2 * op.loss(); });
    CHECK(distance(op.dlogits(true, 2), sum_of(gradient, Numbers(gradient.size(), 2))) <= 1e-14);
  }
}

TEST_CASE_TEMPLATE("kl_divergence: accepts huge logits", T, float, double) {
  Cpu<T> device(1);
  KlDivergence<T> op(device, 1, 3);
  op.logits.write({1e4, -1e4, 1e4});
  op.target.write({0.25, 0.5, 0.25});
  CHECK(distance(op.dlogits(), {0.25, -0.5, 0.25}) <= 1e-7);
  CHECK(op.loss() == doctest::Approx(0.5 * (1e4 - 0.5 * std::log(2))).epsilon(1e-6));
}

TEST_CASE("kl_divergence: accepts no rows") {
  Cpu<double> device(2);
  KlDivergence<double> op(device, 0, 3);
  CHECK(op.loss(7) == 7);
  CHECK(op.dlogits().empty());
}

TEST_CASE_TEMPLATE("kl_divergence: results do not depend on the number of threads", T, float, double) {
  check_threads<T>([&](Cpu<T>& device) {
    KlDivergence<T> op(device, 33, 700);
    return joined({{op.loss()}, op.dlogits()});
  });
}
