#include "attn/tape/arithmetic.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "attn/cpu.hpp"
#include "support/errors.hpp"
#include "support/tape.hpp"

using namespace attn;
using Device = Cpu<double>;

TEST_CASE("dropout: passes values unchanged if the tape has no dropout") {
  Device device(1);
  Tape<Device> tape(device);
  auto x = tape.make(3, 4);
  CHECK(evaluated(dropout(x, 0.5f)).value.data == x.value.data);
  Tape<Device> recording(device, TapeMode::gradients());
  auto z = recording.make(3, 4);
  CHECK(evaluated(dropout(z, 0.5f)).value.data == z.value.data);
}

TEST_CASE("dropout: the gradient follows the mask with the same factor") {
  Device device(1);
  Tape<Device> tape(device, TapeMode::training(1, 1));
  auto x = tape.make(50, 8);
  for (Index i = 0; i < 50; ++i) std::fill_n(x.value.row(i), 8, 1.0);
  const Variable<Device> y = dropout(x, 0.25f);
  contribute(tape, y, std::vector<double>(400, 3.0));
  tape.backward();
  const Sink<double> gradient = tape.sink(x);
  Index dropped = 0;
  for (Index i = 0; i < 50; ++i)
    for (Index j = 0; j < 8; ++j) {
      CHECK((y.value(i, j) == 0 || y.value(i, j) == doctest::Approx(4.0 / 3)));
      CHECK(gradient.to(i, j) == 3 * y.value(i, j));
      dropped += y.value(i, j) == 0;
    }
  CHECK(dropped > 60);  // of 400, a quarter: 100, give or take 4.6 deviations
  CHECK(dropped < 140);
}

TEST_CASE("dropout: rejects an invalid rate") {
  Device device(1);
  Tape<Device> tape(device, TapeMode::training(1, 1));
  auto x = tape.make(1, 2);
  CHECK_THROWS_WITH_AS(dropout(x, 1.0f), doctest::Contains("a rate of 1 is not in [0, 1)"), Error);
  CHECK_THROWS_AS(dropout(x, -0.1f), Error);
}

TEST_CASE("dropout: a tape uses a new mask each time") {
  Device device(1);
  for (const TapeMode mode : {TapeMode::gradients(), TapeMode::inference()})
    CHECK_FALSE(Tape<Device>(device, mode).dropout(0.5f).active());
  Tape<Device> tape(device, TapeMode::training(1, 1));
  CHECK_FALSE(tape.dropout(0).active());
  const Dropout first = tape.dropout(0.5f), second = tape.dropout(0.5f);
  CHECK(first.rate == 0.5f);
  CHECK(first.key.low != second.key.low);
}

TEST_CASE("dropout: a rate outside 0 to 1 is an error even if the tape has no dropout") {
  Device device(1);
  for (const TapeMode mode : {TapeMode::training(1, 1), TapeMode::inference()}) {
    Tape<Device> tape(device, mode);
    for (const float rate : {1.0f, 1.5f, -0.5f, std::nanf("")}) CHECK_THROWS_AS(tape.dropout(rate), Error);
    CHECK(contains(error_of([&] { tape.dropout(1.5f); }), "1.5"));
  }
}

TEST_CASE("dropout: masks of an expression are numbered from left to right for any evaluation order") {
  Device device(1);
  const auto masks = [&](const auto& function) {
    Tape<Device> tape(device, TapeMode::training(1, 1));
    const auto ones = [&] { return Variable<Device>(0 * input<8>(tape, Numbers(64, 1)) + 1); };
    const auto a = ones(), b = ones();
    return function(tape, a, b);
  };
  const auto apart = masks([](auto& tape, auto a, auto b) {
    const Variable<Device> x = dropout(a, 0.5f), y = dropout(b, 0.5f);
    return std::pair(values(tape, x), values(tape, y));
  });
  REQUIRE(apart.first != apart.second);
  const auto left = masks([](auto& tape, auto a, auto b) {
    const auto y = dropout(b, 0.5f), x = dropout(a, 0.5f);  // made in another order than used
    return values(tape, Variable<Device>(x + 10 * y));
  });
  for (std::size_t i = 0; i < 64; ++i) CHECK(left[i] == apart.first[i] + 10 * apart.second[i]);
  const auto twice = masks([](auto& tape, auto a, auto) {
    const auto x = dropout(a, 0.5f);
    return std::pair(values(tape, Variable<Device>(x * x)), values(tape, Variable<Device>(x)));
  });
  for (std::size_t i = 0; i < 64; ++i) CHECK(twice.first[i] == twice.second[i] * twice.second[i]);  // one mask
  CHECK(twice.second == apart.first);
}

TEST_CASE("dropout: masks depend on seed and step and order") {
  Device device(1);
  const auto first_key = [&](std::uint64_t seed, std::uint64_t step) {
    Tape<Device> tape(device, TapeMode::training(seed, step));
    const RandomKey key = tape.dropout(0.1f).key;
    return std::uint64_t{key.high} << 32 | key.low;
  };
  CHECK(first_key(1, 5) == first_key(1, 5));
  CHECK(first_key(1, 5) != first_key(1, 6));
  CHECK(first_key(1, 5) != first_key(2, 5));
}
