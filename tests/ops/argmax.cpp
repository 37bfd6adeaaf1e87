#include "attn/ops/decoding.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"

using attn::Cpu;
using attn::Index;
using attn::Token;

namespace {

template <class T>
std::vector<Token> best(Cpu<T>& device, Index rows, Index cols, const Numbers& logits) {
  const Tensor<Cpu<T>> tensor(device, rows, cols, logits, 2);
  std::vector<Token> result(static_cast<std::size_t>(rows), -1);
  argmax(device, {.logits = tensor, .best = result.data()});
  return result;
}

}  // namespace

TEST_CASE_TEMPLATE("argmax: returns the column of the largest value and the first of equal ones", T, float, double) {
  Cpu<T> device(2);
  CHECK(best(device, 4, 3, {1, 3, 2, -5, -7, -5, 0, 0, 0, -1e30, 2, 1e30}) == std::vector<Token>{1, 0, 0, 2});
  CHECK(best(device, 2, 1, {4, -4}) == std::vector<Token>{0, 0});
  CHECK(best(device, 0, 3, {}).empty());
  CHECK(best(device, 1, 3, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}) == std::vector<Token>{0});
  CHECK(best(device, 1, 3, {-HUGE_VAL, 5, HUGE_VAL}) == std::vector<Token>{2});
}

TEST_CASE_TEMPLATE("argmax: skips an excluded class at any position", T, float, double) {
  Cpu<T> device(2);
  const Tensor<Cpu<T>> logits(device, 2, 4, {1, 3, 2, 3, 5, -1, 5, 4}, 1);
  const auto without = [&](Token except) {
    std::vector<Token> result(2, -1);
    argmax(device, {.logits = logits, .best = result.data(), .except = except});
    return result;
  };
  CHECK(without(-1) == std::vector<Token>{1, 0});
  CHECK(without(0) == std::vector<Token>{1, 2});
  CHECK(without(1) == std::vector<Token>{3, 0});
  CHECK(without(2) == std::vector<Token>{1, 0});
  CHECK(without(3) == std::vector<Token>{1, 0});
  CHECK(without(4) == std::vector<Token>{1, 0});  // not one of them
}

TEST_CASE("argmax: a single class is chosen even if excluded") {
  Cpu<float> device(1);
  const float memory[] = {1, 9};  // what comes after the row is not its
  Token best = -1;
  argmax(device, {.logits = attn::Matrix<const float>(memory, 1, 1), .best = &best, .except = 0});
  CHECK(best == 0);
}

TEST_CASE_TEMPLATE("argmax: a row with NaN gives a valid column", T, float, double) {
  Cpu<T> device(1);
  for (std::size_t where = 0; where < 19; ++where) {
    Numbers row = random_numbers(19, 1);
    row[where] = std::nan("");
    const Token column = best(device, 1, 19, row)[0];
    CHECK(column >= 0);
    CHECK(column < 19);
  }
}

TEST_CASE("argmax: finds the largest value anywhere with any number of threads") {
  for (const int threads : {1, 2, 3}) {
    Cpu<float> device(threads);
    Numbers logits = random_numbers(41 * 37, 2);
    std::vector<Token> expected;
    for (std::size_t i = 0; i < 41; ++i) {
      expected.push_back(static_cast<Token>(i * 5 % 37));
      logits[i * 37 + i * 5 % 37] = 2;
    }
    CHECK(best(device, 41, 37, logits) == expected);
  }
}

TEST_CASE_TEMPLATE("argmax: long rows return the first maximum for one or several blocks with any exclusion", T, float,
                   double) {
  Cpu<T> device(2);
  const Index cols = 2000;
  for (const Index first : {0, 511, 512, 513, 1023, 1600, 1999})
    for (const Index second : {0, 1, 510, 512, 1100, 1999}) {
      Numbers logits = random_numbers(cols, 3);
      logits[static_cast<std::size_t>(first)] = logits[static_cast<std::size_t>(second)] = 2;
      CHECK(best(device, 1, cols, logits)[0] == std::min(first, second));
      const Tensor<Cpu<T>> tensor(device, 1, cols, logits);
      Token without = -1;
      argmax(device, {.logits = tensor, .best = &without, .except = static_cast<Token>(first)});
      if (first != second) CHECK(without == second);
    }
}
