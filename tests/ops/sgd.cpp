#include "attn/ops/optimisers.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;
using attn::SgdOptions;

namespace {

template <class T>
struct Sgd {
  Cpu<T>& device;
  Tensor<Cpu<T>> value, gradient, momentum, squares;
  SgdOptions options;

  Sgd(Cpu<T>& on, const Numbers& start, SgdOptions with)
      : device(on),
        value(on, 1, static_cast<Index>(start.size()), start),
        gradient(on, 1, value.cols(), 0.0),
        momentum(on, 1, value.cols(), 0.0),
        squares(on, 1, 1),
        options(with) {}

  Numbers step(const Numbers& gradients, double rate) {
    gradient.write(gradients);
    sum_of_squares(device, {.x = gradient.data(), .count = gradient.cols(), .total = squares.data()});
    sgd(device, {.value = value.data(),
                 .gradient = gradient.data(),
                 .momentum = options.momentum > 0 ? momentum.data() : nullptr,
                 .count = value.cols(),
                 .squares = squares.data(),
                 .options = options,
                 .rate = rate});
    CHECK(gradient.read() == Numbers(gradients.size(), 0));
    CHECK(value.outside_untouched());
    CHECK(momentum.outside_untouched());
    return value.read();
  }
};

}  // namespace

TEST_CASE_TEMPLATE("sgd: a step matches a manual calculation", T, float, double) {
  Cpu<T> device(2);
  Sgd<T> plain(device, {1, 2, 3}, {});
  CHECK(plain.step({2, -4, 0}, 0.5) == Numbers{0, 4, 3});
  Sgd<T> moving(device, {1, 2, 3}, {.momentum = 0.5});
  CHECK(moving.step({2, -4, 0}, 0.5) == Numbers{0, 4, 3});
  CHECK(moving.step({2, -4, 0}, 0.5) == Numbers{-1.5, 7, 3});
  CHECK(moving.momentum.read() == Numbers{3, -6, 0});
  Sgd<T> nesterov(device, {1, 2, 3}, {.momentum = 0.5, .nesterov = true});
  CHECK(nesterov.step({2, -4, 0}, 0.5) == Numbers{-0.5, 5, 3});
  Sgd<T> shrinking(device, {1, 2, -4}, {.weight_decay = 0.5});
  CHECK(shrinking.step({0, 0, 0}, 0.5) == Numbers{0.75, 1.5, -3});
}

TEST_CASE("sgd: scales down only gradients above the clipping norm") {
  Cpu<double> device(2);
  Sgd<double> large(device, {0, 0}, {.clip_norm = 1}), small(device, {0, 0}, {.clip_norm = 1});
  CHECK(distance(large.step({3e8, -4e8}, 1), {-0.6, 0.8}) <= 1e-12);
  CHECK(small.step({0.25, -0.5}, 1) == Numbers{-0.25, 0.5});
}

TEST_CASE_TEMPLATE("sgd: results do not depend on the number of threads", T, float, double) {
  check_threads<T>([](Cpu<T>& device) {
    Sgd<T> op(device, random_numbers(50001, 1), {.momentum = 0.9, .nesterov = true, .weight_decay = 0.1, .clip_norm = 2});
    op.step(random_numbers(50001, 2), 0.1);
    const Numbers value = op.step(random_numbers(50001, 3), 0.1);
    return joined({value, op.momentum.read()});
  });
}
