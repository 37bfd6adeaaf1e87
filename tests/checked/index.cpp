#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/columns.hpp"
#include "support/errors.hpp"
#include "support/tape.hpp"

// In a build with ATTN_CHECKED, an index that is out of range is an Error. Functions check their arguments in every build.

TEST_CASE("checked: out-of-range elements and rows and columns are errors") {
  double numbers[6] = {};
  const attn::Matrix<double> x(numbers, 2, 3);
  CHECK(error_of([&] { x(2, 0); }) == "element 2, 0 is out of range for a matrix of 2 x 3");
  CHECK(error_of([&] { x(0, 3); }) == "element 0, 3 is out of range for a matrix of 2 x 3");
  CHECK(error_of([&] { x(-1, 0); }) == "element -1, 0 is out of range for a matrix of 2 x 3");
  CHECK(error_of([&] { x.row_range(1, 2); }) == "rows 1, 3 is out of range for a matrix of 2 x 3");
  CHECK(error_of([&] { x.columns(2, 2); }) == "columns 2, 4 is out of range for a matrix of 2 x 3");
  CHECK(error_of([&] { x(1, 2) = 1, x.row_range(2, 0), x.columns(3, 0); }) == "");
}
