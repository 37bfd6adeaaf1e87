#include "attn/ops/optimisers.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/reference.hpp"
#include "support/threads.hpp"

using attn::AdamOptions;
using attn::Cpu;
using attn::Index;

namespace {

/// Parameters with their gradients and Adam's state.
template <class T>
struct Adam {
  Cpu<T>& device;
  Tensor<Cpu<T>> value, gradient, m, v, largest, squares;
  AdamOptions options;
  Index steps = 0;

  Adam(Cpu<T>& on, const Numbers& start, AdamOptions with)
      : device(on),
        value(on, 1, static_cast<Index>(start.size()), start),
        gradient(on, 1, value.cols(), 0.0),
        m(on, 1, value.cols(), 0.0),
        v(on, 1, value.cols(), 0.0),
        largest(on, 1, value.cols(), 0.0),
        squares(on, 1, 1),
        options(with) {}

  Numbers step(const Numbers& gradients, double rate) {
    gradient.write(gradients);
    sum_of_squares(device, {.x = gradient.data(), .count = gradient.cols(), .total = squares.data()});
    adam(device, {.value = value.data(),
                  .gradient = gradient.data(),
                  .m = m.data(),
                  .v = v.data(),
                  .largest_v = options.amsgrad ? largest.data() : nullptr,
                  .count = value.cols(),
                  .squares = squares.data(),
                  .options = options,
                  .rate = rate,
                  .step = ++steps});
    CHECK(gradient.read() == Numbers(gradients.size(), 0));
    CHECK(value.outside_untouched());
    return value.read();
  }
};

}  // namespace

TEST_CASE_TEMPLATE("adam: ten steps of every variant match PyTorch", T, float, double) {
  Cpu<T> device(2);
  const Numbers start = reference("optimiser/start"), gradients = reference("optimiser/gradients");
  const auto check = [&](const std::string& name, double decay, AdamOptions::Decay kind, bool amsgrad) {
    CAPTURE(name);
    const Numbers expected = reference("optimiser/" + name);
    Adam<T> op(device, start, {.beta2 = 0.98, .epsilon = 1e-9, .weight_decay = decay, .decay = kind, .amsgrad = amsgrad});
    for (int step = 0; step < 10; ++step) {
      const auto row = [&](const Numbers& all) { return Numbers(all.begin() + 7 * step, all.begin() + 7 * (step + 1)); };
      CHECK(distance(op.step(row(gradients), 1e-2), row(expected)) <= kReferenceTolerance<T>);
    }
  };
  using enum AdamOptions::Decay;
  check("adam", 0, decoupled, false);
  check("adam_decay_0.1", 0.1, coupled, false);
  check("adamw_decay_0.1", 0.1, decoupled, false);
  check("amsgrad", 0, decoupled, true);
  check("amsgrad_decay_0.1", 0.1, coupled, true);
  check("amsgradw_decay_0.1", 0.1, decoupled, true);
}

TEST_CASE("adam: the first step moves every parameter by the learning rate against its gradient") {
  Cpu<double> device(1);
  Adam<double> op(device, {1, 1, 1}, {});
  CHECK(distance(op.step({1e-3, -50, 0}, 0.1), {0.9, 1.1, 1}) <= 1e-5);
}

TEST_CASE("adam: scales down only gradients above the clipping norm") {
  Cpu<double> device(2);
  Adam<double> op(device, {0, 0}, {.clip_norm = 1});
  op.step({3, -4}, 0.1);
  CHECK(distance(op.m.read(), {0.06, -0.08}) <= 1e-7);
  CHECK(distance(op.v.read(), {0.36e-3, 0.64e-3}) <= 1e-7);
  Adam<double> small(device, {0, 0}, {.clip_norm = 1});
  small.step({0.3, -0.4}, 0.1);
  CHECK(distance(small.m.read(), {0.03, -0.04}) <= 1e-15);
}

TEST_CASE_TEMPLATE("sum_of_squares: is 0 for empty input and exact over blocks", T, float, double) {
  Cpu<T> device(2);
  const Tensor<Cpu<T>> total(device, 1, 1), x(device, 1, 40000, 2.0);
  sum_of_squares(device, {.x = x.data(), .count = 0, .total = total.data()});
  CHECK(total.read() == Numbers{0});
  sum_of_squares(device, {.x = x.data(), .count = 40000, .total = total.data()});
  CHECK(total.read() == Numbers{160000});
}

TEST_CASE_TEMPLATE("adam: sum_of_squares and adam do not depend on the number of threads", T, float, double) {
  check_threads<T>([](Cpu<T>& device) {
    Adam<T> op(device, random_numbers(50001, 1), {.weight_decay = 0.1, .amsgrad = true, .clip_norm = 2});
    op.step(random_numbers(50001, 2), 0.1);
    const Numbers value = op.step(random_numbers(50001, 3), 0.1);
    return joined({value, op.m.read(), op.v.read(), op.squares.read()});
  });
}
