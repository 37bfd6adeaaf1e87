#include "wmt14_experiment/singular_values.hpp"

#include <doctest/doctest.h>

#include "attn/core/random.hpp"

using namespace attn;

namespace {

void check_values(const std::vector<double>& found, const std::vector<double>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(wanted[i]).epsilon(1e-9));
}

}  // namespace

TEST_CASE("singular values: match matrices with known values") {
  check_values(singular_values(2, 2, {3, 0, 4, 5}), {std::sqrt(45.0), std::sqrt(5.0)});
  check_values(singular_values(2, 3, {1, 0, 0, 0, -2, 0}), {2, 1});
  check_values(singular_values(3, 2, {1, 0, 0, -2, 0, 0}), {2, 1});
  check_values(singular_values(1, 1, {-3}), {3});
  check_values(singular_values(1, 4, {1, 1, 1, 1}), {2});
  check_values(singular_values(3, 3, std::vector<float>(9, 1)), {3, 0, 0});
  check_values(singular_values(2, 2, {0, 0, 0, 0}), {0, 0});
  // Looking back evenly: the trace of the square is 1.5, the determinant 0.5.
  const double root = std::sqrt(1.25);
  check_values(singular_values(2, 2, {1, 0, 0.5, 0.5}), {std::sqrt(0.75 + root / 2), std::sqrt(0.75 - root / 2)});
  CHECK(singular_values(0, 0, {}).empty());
}

TEST_CASE("singular values: very large and very small values together") {
  const std::vector<double> found = singular_values(2, 2, {1e18F, 0, 0, 1e-18F});
  CHECK(found[0] == doctest::Approx(1e18).epsilon(1e-6));
  CHECK(found[1] == doctest::Approx(1e-18).epsilon(1e-6));
}

TEST_CASE("singular values: a matrix and its transpose agree and squares sum to the norm") {
  constexpr Index rows = 23, cols = 31;
  Random random(1);
  std::vector<float> matrix(rows * cols), transposed(rows * cols);
  double squares = 0;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const auto value = static_cast<float>(random.below(1000)) / 1000;
      matrix[static_cast<std::size_t>(i * cols + j)] = transposed[static_cast<std::size_t>(j * rows + i)] = value;
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
  const std::vector<double> values = singular_values(rows, cols, matrix);
  check_values(singular_values(cols, rows, transposed), values);
  double sum = 0;
  for (const double value : values) sum += value * value;
  CHECK(sum == doctest::Approx(squares).epsilon(1e-12));
  CHECK(std::is_sorted(values.rbegin(), values.rend()));
}

TEST_CASE("singular values: cumulative share and its interpolation") {
  CHECK(cumulated_share({3, 1}) == std::vector<double>{0, 0.75, 1});
  CHECK(cumulated_share({0, 0}) == std::vector<double>{0, 0, 0});
  CHECK(cumulated_share({5}) == std::vector<double>{0, 1});
  const std::vector<double> curve{0, 0.75, 1};
  CHECK(interpolated(curve, 0) == 0);
  CHECK(interpolated(curve, 0.25) == 0.375);
  CHECK(interpolated(curve, 0.5) == 0.75);
  CHECK(interpolated(curve, 0.75) == 0.875);
  CHECK(interpolated(curve, 1) == 1);
}
