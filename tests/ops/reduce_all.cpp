#include "attn/ops/reductions.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

template <class T>
double sum_of_all(Cpu<T>& device, const Tensor<Cpu<T>>& x, double scale = 1, double start = 0) {
  const Tensor<Cpu<T>> y(device, 1, 1, start);
  reduce_all(device, {.x = x, .y = y.data(), .scale = scale});
  return y.read()[0];
}

}  // namespace

TEST_CASE_TEMPLATE("reduce_all: adds the scaled sum of a slice to its result", T, float, double) {
  Cpu<T> device(2);
  const Tensor<Cpu<T>> x(device, 2, 3, {1, 2, 3, 4, 5, 6}, 2);
  CHECK(sum_of_all(device, x) == 21);
  CHECK(sum_of_all(device, x, 0.5, 100) == 110.5);
  CHECK(sum_of_all(device, Tensor<Cpu<T>>(device, 0, 3), 1, 7) == 7);
  CHECK(sum_of_all(device, Tensor<Cpu<T>>(device, 3, 0), 1, 7) == 7);
}

TEST_CASE("reduce_all: its gradient is fill") {
  Cpu<double> device(2);
  for (const Index cols : {1, 3, 17}) {
    Tensor<Cpu<double>> x(device, 5, cols, random_numbers(5 * cols, 1), 1), dx(device, 5, cols, kUnset, 2);
    fill(device, {.value = 0.75, .y = {dx}});
    CHECK(dx.outside_untouched());
    check_gradient("x", x, dx.read(), [&] { return 3 * sum_of_all(device, x, 0.25); });
  }
}

TEST_CASE_TEMPLATE("fill: overwrites or accumulates", T, float, double) {
  Cpu<T> device(2);
  const Tensor<Cpu<T>> set(device, 2, 3, kUnset, 1), added(device, 2, 3, 10.0, 1), none(device, 0, 3);
  fill(device, {.value = 3, .y = {set}});
  fill(device, {.value = 3, .y = {added, true}});
  fill(device, {.value = 3, .y = {none}});
  CHECK(set.read() == Numbers(6, 3));
  CHECK(added.read() == Numbers(6, 13));
  CHECK(set.outside_untouched());
  CHECK(added.outside_untouched());
}

TEST_CASE_TEMPLATE("reduce_all: reduce_all and fill do not depend on the number of threads", T, float, double) {
  for (const Index cols : {1, 700})
    check_threads<T>([&](Cpu<T>& device) {
      const Tensor<Cpu<T>> x(device, 40000 / cols, cols, random_numbers(40000 / cols * cols, 1)), y(device, 1, 1, 0.1);
      reduce_all(device, {.x = x, .y = y.data(), .scale = 0.3});
      fill(device, {.value = 0.7, .y = {x, true}});
      return joined({y.read(), x.read()});
    });
}
