#include "attn/cpu/eigen.hpp"

#include <doctest/doctest.h>

#include <vector>

using attn::Matrix;

TEST_CASE("eigen: rows of a slice are views of the matrix") {
  std::vector<double> numbers{1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};  // GCC 13 fears for shorter ones
  const auto first_six = [&] { return std::vector<double>(numbers.begin(), numbers.begin() + 6); };
  const auto slice = Matrix<double>(numbers.data(), 2, 3).columns(1, 2);
  CHECK(attn::cpu::row_array(slice, 1).sum() == 11);
  CHECK(attn::cpu::row_array(Matrix<const double>(slice), 0).sum() == 5);
  attn::cpu::put(attn::cpu::row_array(slice, 0), attn::cpu::row_array(slice, 1), false);
  CHECK(first_six() == std::vector<double>{1, 5, 6, 4, 5, 6});
  attn::cpu::put(attn::cpu::row_array(slice, 0), attn::cpu::row_array(slice, 1), true);
  CHECK(first_six() == std::vector<double>{1, 10, 12, 4, 5, 6});
  attn::cpu::clear(slice);
  CHECK(first_six() == std::vector<double>{1, 0, 0, 4, 0, 0});
}
