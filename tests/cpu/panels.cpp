#include "attn/cpu/tile.hpp"

#include <doctest/doctest.h>

#include "support/tensor.hpp"

using attn::Cpu;
using attn::Index;

namespace {

/// c + a b, computed the plain way.
Numbers product(const Numbers& a, const Numbers& b, const Numbers& c, Index rows, Index depth, Index cols, bool transpose) {
  Numbers sum = c;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      for (Index k = 0; k < depth; ++k)
        sum[static_cast<std::size_t>(i * cols + j)] +=
            a[static_cast<std::size_t>(i * depth + k)] *
            b[static_cast<std::size_t>(transpose ? j * depth + k : k * cols + j)];
  return sum;
}

}  // namespace

TEST_CASE_TEMPLATE("panels: products match plain loops for any number of rows and columns", T, float, double) {
  Cpu<T> device(2);
  for (const bool transpose : {false, true})
    for (const Index rows : {0, 1, 2, 3, 4, 5, 6, 11, 13})
      for (const auto& size : {std::pair<Index, Index>{1, 1}, {7, 5}, {32, 64}, {9, 67}, {1030, 20}}) {
        const Index depth = size.first, cols = size.second;
        CAPTURE(rows);
        CAPTURE(depth);
        CAPTURE(cols);
        const Tensor<Cpu<T>> a(device, rows, depth, random_numbers(rows * depth, 1), 1);
        const Tensor<Cpu<T>> b(device, transpose ? cols : depth, transpose ? depth : cols, random_numbers(depth * cols, 2),
                               1);
        const Tensor<Cpu<T>> c(device, rows, cols, random_numbers(rows * cols, 3), 1);
        const Numbers expected = product(a.read(), b.read(), c.read(), rows, depth, cols, transpose);
        attn::cpu::Panels<T> panels(device, depth, cols);
        panels.fill(device, b, transpose);
        panels.multiply(a, c);
        CHECK(distance(c.read(), expected) <= (sizeof(T) == 8 ? 1e-12 : 1e-4));
        CHECK(c.outside_untouched());
      }
}

TEST_CASE_TEMPLATE("panels: a row does not depend on the other rows", T, float, double) {
  constexpr Index kRows = 13, kDepth = 600, kCols = 21;
  Cpu<T> device(1);
  const Tensor<Cpu<T>> a(device, kRows, kDepth, random_numbers(kRows * kDepth, 1)), all(device, kRows, kCols, 0.0);
  const Tensor<Cpu<T>> b(device, kDepth, kCols, random_numbers(kDepth * kCols, 2)), single(device, kRows, kCols, 0.0);
  attn::cpu::Panels<T> panels(device, kDepth, kCols);
  panels.fill(device, b, false);
  panels.multiply(a, all);
  for (Index i = 0; i < kRows; ++i) panels.multiply(a.view().row_range(i, 1), single.view().row_range(i, 1));
  CHECK(same_bits(all.read(), single.read()));
}
