#include "attn/ops/move_rows.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"

using attn::Cpu;

TEST_CASE_TEMPLATE("scatter_rows: writes each row to its place and leaves the others", T, float, double) {
  Cpu<T> device(2);
  const Tensor<Cpu<T>> from(device, 2, 3, {1, 2, 3, 4, 5, 6}, 1), to(device, 4, 3, 9.0, 2);
  const Integers<Cpu<T>> row(device, {3, 0});
  scatter_rows(device, {.from = from, .row = row.data(), .to = to});
  CHECK(to.read() == Numbers{4, 5, 6, 9, 9, 9, 9, 9, 9, 1, 2, 3});
  CHECK(to.outside_untouched());
}

TEST_CASE("scatter_rows: no rows change nothing") {
  Cpu<double> device(1);
  const Tensor<Cpu<double>> from(device, 0, 2), to(device, 1, 2, 9.0);
  scatter_rows(device, {.from = from, .row = nullptr, .to = to});
  CHECK(to.read() == Numbers{9, 9});
}

TEST_CASE("scatter_rows: copies more rows than one thread handles") {
  const attn::Index rows = 90, width = 700;
  std::vector<std::int32_t> order;
  for (std::int32_t i = 0; i < rows; ++i) order.push_back(i * 7 % 101);
  for (const int threads : {1, 3}) {
    Cpu<float> device(threads);
    const Tensor<Cpu<float>> from(device, rows, width, random_numbers(rows * width, 1), 1), to(device, 101, width, 9.0, 2);
    const Integers<Cpu<float>> row(device, order);
    scatter_rows(device, {.from = from, .row = row.data(), .to = to});
    Numbers expected(static_cast<std::size_t>(101 * width), 9.0);
    const Numbers all = from.read();
    for (std::size_t i = 0; i < order.size(); ++i)
      std::copy_n(all.begin() + static_cast<attn::Index>(i) * width, width, expected.begin() + order[i] * width);
    CHECK(to.read() == expected);
    CHECK(to.outside_untouched());
  }
}
