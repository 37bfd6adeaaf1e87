#include "attn/ops/dropout.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Dropout;
using attn::Index;

namespace {

template <class T>
Numbers dropped(Cpu<T>& device, Dropout drop, Index rows, Index cols) {
  Tensor<Cpu<T>> x(device, rows, cols, 1.0, 2), y(device, rows, cols, kUnset, 1);
  dropout(device, {.x = x, .y = {y}, .dropout = drop});
  CHECK(y.outside_untouched());
  return y.read();
}

}  // namespace

TEST_CASE_TEMPLATE("dropout: drops values at its rate and scales the others", T, float, double) {
  Cpu<T> device(2);
  for (const float rate : {0.1f, 0.25f, 0.5f, 0.9f}) {
    CAPTURE(rate);
    const Numbers y = dropped<T>(device, {rate, attn::key_of_seed(1)}, 200, 200);
    int stopped = 0;
    for (const double number : y) {
      REQUIRE((number == 0 || number == static_cast<double>(1 / (1 - rate))));
      stopped += number == 0;
    }
    const double deviation = std::sqrt(40000.0 * rate * (1 - rate));
    CHECK(std::abs(stopped - 40000.0 * rate) < 4 * deviation);
  }
}

TEST_CASE("dropout: masks have no pattern along rows or columns") {
  Cpu<float> device(1);
  const Numbers y = dropped<float>(device, {0.5f, attn::key_of_seed(2)}, 200, 200);
  int right = 0, below = 0;
  for (std::size_t i = 0; i + 1 < 200; ++i)
    for (std::size_t j = 0; j + 1 < 200; ++j) {
      right += y[i * 200 + j] == y[i * 200 + j + 1];
      below += y[i * 200 + j] == y[i * 200 + 200 + j];
    }
  CHECK(std::abs(right - 199 * 199 / 2) < 400);  // 4 deviations
  CHECK(std::abs(below - 199 * 199 / 2) < 400);
}

TEST_CASE("dropout: a mask depends only on key and row and column") {
  Cpu<double> device(2);
  const attn::RandomKey key = attn::key_of_seed(3);
  const Numbers y = dropped<double>(device, {0.3f, key}, 9, 50);
  CHECK(dropped<double>(device, {0.3f, key}, 9, 50) == y);
  CHECK(dropped<double>(device, {0.3f, attn::derive(key, 1)}, 9, 50) != y);
  const Numbers narrow = dropped<double>(device, {0.3f, key}, 9, 20);
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < 20; ++j) CHECK(narrow[i * 20 + j] == y[i * 50 + j]);
  const auto row = Dropout{0.3f, key}.row(8);
  for (std::uint32_t j = 0; j < 50; ++j) CHECK(static_cast<double>(row(j)) == y[8 * 50 + j]);
}

TEST_CASE("dropout: a rate of 0 copies the input") {
  Cpu<double> device(1);
  CHECK_FALSE(Dropout{}.active());
  CHECK(dropped<double>(device, {}, 3, 5) == Numbers(15, 1));
}

TEST_CASE("dropout: the result overwrites or accumulates and may be in place") {
  Cpu<double> device(1);
  const Dropout drop{0.5f, attn::key_of_seed(4)};
  const Numbers once = dropped<double>(device, drop, 6, 7);
  Tensor<Cpu<double>> x(device, 6, 7, 1.0), y(device, 6, 7, 2.0);
  dropout(device, {.x = x, .y = {y, true}, .dropout = drop});
  CHECK(y.read() == sum_of(once, Numbers(42, 2)));
  dropout(device, {.x = x, .y = {x}, .dropout = drop});
  CHECK(x.read() == once);
}

TEST_CASE("dropout: accepts empty input") {
  Cpu<double> device(2);
  CHECK(dropped<double>(device, {0.5f, {}}, 0, 5).empty());
}

TEST_CASE_TEMPLATE("dropout: results do not depend on the number of threads", T, float, double) {
  check_threads<T>([](Cpu<T>& device) { return dropped<T>(device, {0.3f, attn::key_of_seed(5)}, 101, 33); });
}
