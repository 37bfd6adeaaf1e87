#include "attn/core/matrix.hpp"

#include <doctest/doctest.h>

#include <vector>

using attn::Matrix;

TEST_CASE("matrix: a matrix without a stride is packed by rows") {
  std::vector<int> numbers{0, 1, 2, 3, 4, 5};
  const Matrix<int> m(numbers.data(), 2, 3);
  CHECK(m.stride == 3);
  CHECK(m(1, 0) == 3);
  CHECK(*m.row(1) == 3);
  m(1, 2) = 9;
  CHECK(numbers[5] == 9);
}

TEST_CASE("matrix: row and column slices are views") {
  std::vector<int> numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const Matrix<int> m(numbers.data(), 3, 4);
  const auto slice = m.row_range(1, 2).columns(1, 2);
  CHECK(slice.rows == 2);
  CHECK(slice.cols == 2);
  CHECK(slice.stride == 4);
  CHECK(slice(0, 0) == 5);
  CHECK(slice(1, 1) == 10);
  CHECK(&slice(1, 1) == &m(2, 2));
}

TEST_CASE("matrix: a mutable matrix converts to a const matrix but not back") {
  std::vector<int> numbers{1, 2};
  const Matrix<const int> read = Matrix<int>(numbers.data(), 1, 2);
  CHECK(read(0, 1) == 2);
  CHECK_FALSE(std::is_convertible_v<Matrix<const int>, Matrix<int>>);
}

TEST_CASE("matrix: is empty if it has no data rather than no rows") {
  int number = 0;
  CHECK(Matrix<int>().empty());
  CHECK_FALSE(Matrix<int>(&number, 0, 3).empty());
}

TEST_CASE("sink: sets or adds") {
  double place = 2;
  attn::Sink<double>{}.put(place, 5);
  CHECK(place == 5);
  attn::Sink<double>{{}, true}.put(place, 5);
  CHECK(place == 10);
}
