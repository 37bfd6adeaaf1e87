#include "attn/ops/scatter_rows.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"

using attn::Cpu;

TEST_CASE_TEMPLATE("scatter_rows puts each row in its place and leaves the others", T, float, double) {
  Cpu<T> device(2);
  const Tensor<Cpu<T>> from(device, 2, 3, {1, 2, 3, 4, 5, 6}, 1), to(device, 4, 3, 9.0, 2);
  const Integers<Cpu<T>> row(device, {3, 0});
  scatter_rows(device, {.from = from, .row = row.data(), .to = to});
  CHECK(to.read() == Numbers{4, 5, 6, 9, 9, 9, 9, 9, 9, 1, 2, 3});
  CHECK(to.outside_untouched());
}

TEST_CASE("scatter_rows of no rows changes nothing") {
  Cpu<double> device(1);
  const Tensor<Cpu<double>> from(device, 0, 2), to(device, 1, 2, 9.0);
  scatter_rows(device, {.from = from, .row = nullptr, .to = to});
  CHECK(to.read() == Numbers{9, 9});
}
