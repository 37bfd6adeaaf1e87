#include "attn/ops/decoding.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"

using attn::Cpu;
using attn::Index;
using attn::Token;

namespace {

constexpr double kNever = -HUGE_VAL;

struct Best {
  std::vector<Token> classes;
  Numbers log_probabilities;
};

template <class T>
Best best(Cpu<T>& device, Index rows, Index cols, const Numbers& logits, Index k, const std::vector<Token>& except = {},
          const std::vector<Token>& only = {}, bool renormalize = false) {
  const Tensor<Cpu<T>> tensor(device, rows, cols, logits, 2), found(device, rows, k, kUnset, 1);
  Best result{std::vector<Token>(static_cast<std::size_t>(rows * k), -7), {}};
  top_k(device, {.logits = tensor,
                 .best = {result.classes.data(), rows, k},
                 .log_probabilities = found,
                 .except = except.data(),
                 .excepted = static_cast<Index>(except.size()),
                 .only = only.empty() ? nullptr : only.data(),
                 .renormalize = renormalize});
  CHECK(tensor.outside_untouched());
  CHECK(found.outside_untouched());
  result.log_probabilities = found.read();
  return result;
}

void check_near(const Numbers& a, const Numbers& b, double bound) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    CHECK((a[i] == b[i] || std::abs(a[i] - b[i]) <= bound * std::max(1.0, std::abs(b[i]))));
}

}  // namespace

TEST_CASE_TEMPLATE("top_k: returns the largest values first with their log-probabilities", T, float, double) {
  Cpu<T> device(2);
  const double bound = std::is_same_v<T, float> ? 1e-6 : 1e-14;
  // Probabilities 1/8, 1/2, 1/8, 1/4; and the same in another order, a thousand higher.
  const double two = std::log(2.0);
  const auto [classes, p] = best(device, 2, 4, {0, 2 * two, 0, two, 1000, 1000 + two, 1000 + 2 * two, 1000}, 3);
  CHECK(classes == std::vector<Token>{1, 3, 0, 2, 1, 0});
  check_near(p, {-two, -2 * two, -3 * two, -two, -2 * two, -3 * two}, 100 * bound);
}

TEST_CASE_TEMPLATE("top_k: ties are in class order and missing classes are -1", T, float, double) {
  Cpu<T> device(1);
  const auto [classes, p] = best(device, 1, 4, {5, 5, 5, 5}, 6);
  CHECK(classes == std::vector<Token>{0, 1, 2, 3, -1, -1});
  check_near(p, {-std::log(4.0), -std::log(4.0), -std::log(4.0), -std::log(4.0), kNever, kNever}, 1e-6);
  CHECK(best(device, 1, 5, {1, 3, 3, 0.0, -0.0}, 5).classes == std::vector<Token>{1, 2, 0, 3, 4});
  CHECK(best(device, 2, 1, {-4, 4}, 1).classes == std::vector<Token>{0, 0});
  CHECK(best(device, 2, 1, {-4, 4}, 1).log_probabilities == Numbers{0, 0});
  CHECK(best(device, 0, 3, {}, 2).classes.empty());
  CHECK(best(device, 2, 3, {1, 2, 3, 4, 5, 6}, 0).classes.empty());
}

TEST_CASE_TEMPLATE("top_k: handles huge values and gives -inf probability 0", T, float, double) {
  Cpu<T> device(1);
  const auto huge = best(device, 1, 3, {-1e30, 1e30, 1e30}, 3);
  CHECK(huge.classes == std::vector<Token>{1, 2, 0});
  check_near(huge.log_probabilities, {-std::log(2.0), -std::log(2.0), -2e30}, 1e-6);
  const auto some = best(device, 1, 4, {kNever, 2, kNever, 2}, 4);
  CHECK(some.classes == std::vector<Token>{1, 3, 0, 2});
  check_near(some.log_probabilities, {-std::log(2.0), -std::log(2.0), kNever, kNever}, 1e-6);
  const auto none = best(device, 1, 2, {kNever, kNever}, 2);
  CHECK(none.classes == std::vector<Token>{0, 1});
  CHECK(none.log_probabilities == Numbers{kNever, kNever});
}

TEST_CASE_TEMPLATE("top_k: excluded classes keep their share of the sum", T, float, double) {
  Cpu<T> device(1);
  const double two = std::log(2.0);
  const auto [classes, p] = best(device, 1, 4, {0, 2 * two, 0, two}, 3, {1, 2, 77});
  CHECK(classes == std::vector<Token>{3, 0, -1});
  check_near(p, {-2 * two, -3 * two, kNever}, 1e-6);
}

TEST_CASE_TEMPLATE("top_k: renormalized probabilities exclude the excluded classes", T, float, double) {
  Cpu<T> device(1);
  const double two = std::log(2.0), three = std::log(3.0);
  const auto [classes, p] = best(device, 2, 4, {0, 2 * two, 0, two, 0, 1e6, 1, 0}, 3, {1, 2, 77, -1}, {}, true);
  CHECK(classes == std::vector<Token>{3, 0, -1, 0, 3, -1});  // of what is left out nothing is counted, however probable
  check_near(p, {two - three, -three, kNever, -two, -two, kNever}, 1e-6);
}

TEST_CASE_TEMPLATE("top_k: a forced class is chosen even if excluded", T, float, double) {
  Cpu<T> device(2);
  const double two = std::log(2.0);
  const auto [classes, p] =
      best(device, 3, 4, {0, 2 * two, 0, two, 0, 2 * two, 0, two, 1, kNever, 1, 1}, 2, {3}, {3, -1, 1});
  CHECK(classes == std::vector<Token>{3, -1, 1, 0, 1, -1});
  check_near(p, {-2 * two, kNever, -two, -3 * two, kNever, kNever}, 1e-6);
}

TEST_CASE_TEMPLATE("top_k: never chooses NaN", T, float, double) {
  Cpu<T> device(1);
  for (std::size_t where = 0; where < 150; ++where) {
    Numbers row(150);
    std::iota(row.begin(), row.end(), 0);
    row[where] = std::nan("");
    const auto classes = best(device, 1, 150, row, 2).classes;
    CHECK(classes ==
          std::vector<Token>{static_cast<Token>(where == 149 ? 148 : 149), static_cast<Token>(where >= 148 ? 147 : 148)});
  }
}

TEST_CASE("top_k: matches sorting for any k and any number of threads") {
  for (const int threads : {1, 3}) {
    Cpu<double> device(threads);
    for (const Index classes : {Index{7}, Index{64}, Index{65}, Index{1000}}) {
      Numbers logits = random_numbers(11 * classes, 5, 3);
      for (double& x : logits) x = std::round(x * 20) / 20;  // so that some are equal
      for (const Index k : {Index{1}, Index{2}, Index{5}, classes}) {
        const auto [found, p] = best(device, 11, classes, logits, k);
        for (Index i = 0; i < 11; ++i) {
          const double* row = logits.data() + i * classes;
          std::vector<Token> order(static_cast<std::size_t>(classes));
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(), [&](Token a, Token b) { return row[a] > row[b]; });
          double sum = 0;
          for (Index j = 0; j < classes; ++j) sum += std::exp(row[j]);
          for (Index j = 0; j < k; ++j) {
            CHECK(found[static_cast<std::size_t>(i * k + j)] == order[static_cast<std::size_t>(j)]);
            CHECK(std::abs(p[static_cast<std::size_t>(i * k + j)] -
                           (row[order[static_cast<std::size_t>(j)]] - std::log(sum))) < 1e-13);
          }
        }
      }
    }
  }
}
