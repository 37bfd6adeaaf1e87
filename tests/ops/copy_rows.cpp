#include "attn/ops/move_rows.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"

using attn::Cpu;
using attn::Index;

TEST_CASE_TEMPLATE("copy_rows: copies some rows and leaves the others", T, float, double) {
  Cpu<T> device(2);
  const Tensor<Cpu<T>> rows(device, 5, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 3);
  const Integers<Cpu<T>> from(device, {1, 4, 1}), to(device, {3, 0, 2});
  copy_rows(device, {.rows = rows, .from = from.data(), .to = to.data(), .count = 3});
  CHECK(rows.read() == Numbers{9, 10, 3, 4, 3, 4, 3, 4, 9, 10});
  CHECK(rows.outside_untouched());
  copy_rows(device, {.rows = rows, .from = nullptr, .to = nullptr, .count = 0});
  CHECK(rows.read() == Numbers{9, 10, 3, 4, 3, 4, 3, 4, 9, 10});
}

TEST_CASE("copy_rows: copies every row with any number of threads") {
  for (const int threads : {1, 2, 3}) {
    Cpu<float> device(threads);
    const Index half = 50, width = 1024;  // enough to share out
    const Tensor<Cpu<float>> rows(device, 2 * half, width, random_numbers(2 * half * width, 1));
    const Numbers before = rows.read();
    std::vector<std::int32_t> from, to;
    for (Index i = 0; i < half; ++i) {
      from.push_back(static_cast<std::int32_t>(2 * i));
      to.push_back(static_cast<std::int32_t>(2 * (half - i) - 1));
    }
    copy_rows(device, {.rows = rows, .from = from.data(), .to = to.data(), .count = half});
    const Numbers after = rows.read();
    for (Index i = 0; i < half; ++i)
      for (Index j = 0; j < width; ++j) {
        const auto at = [&](Index row) { return static_cast<std::size_t>(row * width + j); };
        REQUIRE(after[at(2 * i)] == before[at(2 * i)]);
        REQUIRE(after[at(2 * (half - i) - 1)] == before[at(2 * i)]);
      }
  }
}
