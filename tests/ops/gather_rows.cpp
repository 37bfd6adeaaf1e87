#include "attn/ops/move_rows.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"

using attn::Cpu;

TEST_CASE_TEMPLATE("gather_rows: gathers rows in any order and its gradient scatters them back", T, float, double) {
  Cpu<T> device(2);
  const Tensor<Cpu<T>> from(device, 4, 2, {1, 2, 3, 4, 5, 6, 7, 8}, 1), to(device, 3, 2, kUnset, 2);
  const Integers<Cpu<T>> row(device, {3, 0, 2});
  gather_rows(device, {.from = from, .row = row.data(), .to = to});
  CHECK(to.read() == Numbers{7, 8, 1, 2, 5, 6});
  CHECK(to.outside_untouched());

  const Tensor<Cpu<T>> set(device, 4, 2, kUnset, 1), added(device, 4, 2, 10.0, 1);
  gather_rows_gradient(device, {.dto = to, .row = row.data(), .dfrom = {set}});
  gather_rows_gradient(device, {.dto = to, .row = row.data(), .dfrom = {added, true}});
  CHECK(set.read() == Numbers{1, 2, 0, 0, 5, 6, 7, 8});
  CHECK(added.read() == Numbers{11, 12, 10, 10, 15, 16, 17, 18});
  CHECK(set.outside_untouched());
}

TEST_CASE("gather_rows: no rows give an empty result and a gradient of 0") {
  Cpu<double> device(1);
  const Tensor<Cpu<double>> from(device, 2, 2, 5.0), to(device, 0, 2), dfrom(device, 2, 2);
  gather_rows(device, {.from = from, .row = nullptr, .to = to});
  gather_rows_gradient(device, {.dto = to, .row = nullptr, .dfrom = {dfrom}});
  CHECK(dfrom.read() == Numbers{0, 0, 0, 0});
}

TEST_CASE("gather_rows: copies more rows than one thread handles") {
  const attn::Index rows = 90, width = 700;
  std::vector<std::int32_t> order;
  for (std::int32_t i = 0; i < rows; ++i) order.push_back(i * 7 % 40);
  for (const int threads : {1, 3}) {
    Cpu<float> device(threads);
    const Tensor<Cpu<float>> from(device, 40, width, random_numbers(40 * width, 1), 1), to(device, rows, width, kUnset, 2);
    const Integers<Cpu<float>> row(device, order);
    gather_rows(device, {.from = from, .row = row.data(), .to = to});
    const Numbers all = from.read(), got = to.read();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto line = all.begin() + order[i] * width;
      CHECK(Numbers(line, line + width) == Numbers(got.begin() + static_cast<attn::Index>(i) * width,
                                                   got.begin() + static_cast<attn::Index>(i + 1) * width));
    }
    CHECK(to.outside_untouched());
  }
}
