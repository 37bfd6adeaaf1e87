#include "attn/ops/move_rows.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"

using attn::Cpu;
using attn::Index;

TEST_CASE_TEMPLATE("move_rows: copies some rows of a matrix and leaves the others", T, float, double) {
  Cpu<T> device(2);
  const Tensor<Cpu<T>> rows(device, 5, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 3);
  const Integers<Cpu<T>> from(device, {1, 4, 1}), to(device, {3, 0, 2});
  move_rows(device, {.from = rows, .from_row = from.data(), .to = {rows}, .to_row = to.data(), .count = 3});
  CHECK(rows.read() == Numbers{9, 10, 3, 4, 3, 4, 3, 4, 9, 10});
  CHECK(rows.outside_untouched());
  move_rows(device, {.from = rows, .to = {rows}, .count = 0});
  CHECK(rows.read() == Numbers{9, 10, 3, 4, 3, 4, 3, 4, 9, 10});
}

TEST_CASE("move_rows: copies every row of a matrix with any number of threads") {
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
    move_rows(device, {.from = rows, .from_row = from.data(), .to = {rows}, .to_row = to.data(), .count = half});
    const Numbers after = rows.read();
    for (Index i = 0; i < half; ++i)
      for (Index j = 0; j < width; ++j) {
        const auto at = [&](Index row) { return static_cast<std::size_t>(row * width + j); };
        REQUIRE(after[at(2 * i)] == before[at(2 * i)]);
        REQUIRE(after[at(2 * (half - i) - 1)] == before[at(2 * i)]);
      }
  }
}

TEST_CASE_TEMPLATE("move_rows: gathers rows in any order, and sets or adds them elsewhere", T, float, double) {
  Cpu<T> device(2);
  const Tensor<Cpu<T>> from(device, 4, 2, {1, 2, 3, 4, 5, 6, 7, 8}, 1), to(device, 3, 2, kUnset, 2);
  const Integers<Cpu<T>> row(device, {3, 0, 2});
  move_rows(device, {.from = from, .from_row = row.data(), .to = {to}, .count = 3});
  CHECK(to.read() == Numbers{7, 8, 1, 2, 5, 6});
  CHECK(to.outside_untouched());

  const Tensor<Cpu<T>> set(device, 4, 2, 9.0, 1), added(device, 4, 2, 10.0, 1);
  move_rows(device, {.from = to, .to = {set}, .to_row = row.data(), .count = 3});
  move_rows(device, {.from = to, .to = {added, true}, .to_row = row.data(), .count = 3});
  CHECK(set.read() == Numbers{1, 2, 9, 9, 5, 6, 7, 8});
  CHECK(added.read() == Numbers{11, 12, 10, 10, 15, 16, 17, 18});
  CHECK(set.outside_untouched());
}

TEST_CASE("move_rows: gathers more rows than one thread handles") {
  const attn::Index rows = 90, width = 700;
  std::vector<std::int32_t> order;
  for (std::int32_t i = 0; i < rows; ++i) order.push_back(i * 7 % 40);
  for (const int threads : {1, 3}) {
    Cpu<float> device(threads);
    const Tensor<Cpu<float>> from(device, 40, width, random_numbers(40 * width, 1), 1), to(device, rows, width, kUnset, 2);
    const Integers<Cpu<float>> row(device, order);
    move_rows(device, {.from = from, .from_row = row.data(), .to = {to}, .count = rows});
    const Numbers all = from.read(), got = to.read();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto line = all.begin() + order[i] * width;
      CHECK(Numbers(line, line + width) == Numbers(got.begin() + static_cast<attn::Index>(i) * width,
                                                   got.begin() + static_cast<attn::Index>(i + 1) * width));
    }
    CHECK(to.outside_untouched());
  }
}

TEST_CASE_TEMPLATE("move_rows: writes each row to its place and leaves the others", T, float, double) {
  Cpu<T> device(2);
  const Tensor<Cpu<T>> from(device, 2, 3, {1, 2, 3, 4, 5, 6}, 1), to(device, 4, 3, 9.0, 2);
  const Integers<Cpu<T>> row(device, {3, 0});
  move_rows(device, {.from = from, .to = {to}, .to_row = row.data(), .count = 2});
  CHECK(to.read() == Numbers{4, 5, 6, 9, 9, 9, 9, 9, 9, 1, 2, 3});
  CHECK(to.outside_untouched());
}

TEST_CASE("move_rows: no rows change nothing") {
  Cpu<double> device(1);
  const Tensor<Cpu<double>> from(device, 0, 2), to(device, 1, 2, 9.0);
  move_rows(device, {.from = from, .to = {to}, .count = 0});
  CHECK(to.read() == Numbers{9, 9});
}

TEST_CASE("move_rows: scatters more rows than one thread handles") {
  const attn::Index rows = 90, width = 700;
  std::vector<std::int32_t> order;
  for (std::int32_t i = 0; i < rows; ++i) order.push_back(i * 7 % 101);
  for (const int threads : {1, 3}) {
    Cpu<float> device(threads);
    const Tensor<Cpu<float>> from(device, rows, width, random_numbers(rows * width, 1), 1), to(device, 101, width, 9.0, 2);
    const Integers<Cpu<float>> row(device, order);
    move_rows(device, {.from = from, .to = {to}, .to_row = row.data(), .count = rows});
    Numbers expected(static_cast<std::size_t>(101 * width), 9.0);
    const Numbers all = from.read();
    for (std::size_t i = 0; i < order.size(); ++i)
      std::copy_n(all.begin() + static_cast<attn::Index>(i) * width, width, expected.begin() + order[i] * width);
    CHECK(to.read() == expected);
    CHECK(to.outside_untouched());
  }
}

TEST_CASE_TEMPLATE("move_rows: without lists, copies or adds whole matrices", T, float, double) {
  Cpu<T> device(2);
  const Tensor<Cpu<T>> from(device, 2, 2, {1, 2, 3, 4}, 1), set(device, 2, 2, kUnset, 2), added(device, 2, 2, 10.0, 3);
  move_rows(device, {.from = from, .to = {set}, .count = 2});
  move_rows(device, {.from = from, .to = {added, true}, .count = 2});
  CHECK(set.read() == Numbers{1, 2, 3, 4});
  CHECK(added.read() == Numbers{11, 12, 13, 14});
  CHECK(set.outside_untouched());
}
