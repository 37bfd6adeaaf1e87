#include "attn/ops/optimisers.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

TEST_CASE_TEMPLATE("moving_average: matches a manual calculation", T, float, double) {
  Cpu<T> device(2);
  const Tensor<Cpu<T>> value(device, 1, 5, {1, -2, 0, 1e30, 4});
  Tensor<Cpu<T>> average(device, 1, 5, {3, -2, 8, 0, 1e-30});
  moving_average(device, {.value = value.data(), .average = average.data(), .count = 5, .decay = 0.5});
  CHECK(average.read() == Numbers{2, -2, 4, static_cast<double>(T(0.5) * T(1e30)), 2});
  CHECK(average.outside_untouched());
  moving_average(device, {.value = value.data(), .average = average.data(), .count = 0, .decay = 0.5});
  CHECK(average.read()[0] == 2);
}

TEST_CASE_TEMPLATE("exchange: swaps the values of two buffers", T, float, double) {
  Cpu<T> device(2);
  Tensor<Cpu<T>> value(device, 1, 5, {1, 2, 3, 4, 5}), average(device, 1, 5, {6, 7, 8, 9, 10});
  exchange_average(device, {.value = value.data(), .average = average.data(), .compute = value.data(), .count = 5});
  CHECK(value.read() == Numbers{6, 7, 8, 9, 10});
  CHECK(average.read() == Numbers{1, 2, 3, 4, 5});
  CHECK(value.outside_untouched());
  CHECK(average.outside_untouched());
}

TEST_CASE_TEMPLATE("moving_average: results do not depend on the number of threads", T, float, double) {
  check_threads<T>([](Cpu<T>& device) {
    const Tensor<Cpu<T>> value(device, 1, 50001, random_numbers(50001, 1));
    const Tensor<Cpu<T>> average(device, 1, 50001, random_numbers(50001, 2));
    moving_average(device, {.value = value.data(), .average = average.data(), .count = 50001, .decay = 0.9});
    return average.read();
  });
}
