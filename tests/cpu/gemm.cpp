#include "attn/cpu/gemm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "attn/core/error.hpp"
#include "support/bfloat16.hpp"
#include "support/tensor.hpp"

using attn::Cpu;
using attn::Index;
using attn::Matrix;

namespace {

/// As a product's operand is seen: rounded, if the device says so.
template <class T>
double seen(const Cpu<T>& device, T x) {
  return device.options().bfloat16_products ? to_bfloat16(static_cast<float>(x)) : static_cast<double>(x);
}

/// The largest error of c += alpha a b against a plain loop in double, operands being slices of wider matrices.
template <bool TransposeA, bool TransposeB, class T>
double error(Cpu<T>& device, Index rows, Index cols, Index depth) {
  const auto tensor = [&](Index r, Index c, std::uint64_t seed) {
    return Tensor<Cpu<T>>(device, r, c, random_numbers(r * c, seed), 3);
  };
  const auto a = TransposeA ? tensor(depth, rows, 1) : tensor(rows, depth, 1);
  const auto b = TransposeB ? tensor(cols, depth, 2) : tensor(depth, cols, 2);
  const auto c = tensor(rows, cols, 3);
  Numbers expected = c.read();
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      for (Index k = 0; k < depth; ++k)
        expected[static_cast<std::size_t>(i * cols + j)] += 0.5 *
                                                            seen(device, TransposeA ? a.view()(k, i) : a.view()(i, k)) *
                                                            seen(device, TransposeB ? b.view()(j, k) : b.view()(k, j));
  attn::cpu::gemm<TransposeA, TransposeB>(device, 0, Matrix<const T>(a), Matrix<const T>(b), c.view(), T(0.5));
  CHECK(c.outside_untouched());
  return distance(c.read(), expected);
}

}  // namespace

TEST_CASE_TEMPLATE("gemm: accumulates products of slices with any transposition", T, float, double) {
  Cpu<T> device(1);
  const double tolerance = sizeof(T) == 8 ? 1e-13 : 5e-5;
  const Index sizes[][3] = {{1, 1, 1},   {2, 3, 5},     {7, 5, 7},    {33, 17, 9}, {1, 70, 64},
                            {64, 1, 33}, {50, 49, 600}, {2, 133, 21}, {48, 9, 31}, {49, 10, 31}};
  for (const auto& size : sizes) {
    const Index rows = size[0], cols = size[1], depth = size[2];
    CAPTURE(rows);
    CHECK(error<false, false>(device, rows, cols, depth) <= tolerance);
    CHECK(error<true, false>(device, rows, cols, depth) <= tolerance);
    CHECK(error<false, true>(device, rows, cols, depth) <= tolerance);
    CHECK(error<true, true>(device, rows, cols, depth) <= tolerance);
  }
}

TEST_CASE("gemm: empty products change nothing") {
  Cpu<double> device(1);
  CHECK(error<false, false>(device, 0, 3, 2) == 0);
  CHECK(error<false, false>(device, 3, 0, 2) == 0);
  CHECK(error<false, true>(device, 3, 2, 0) == 0);
}

TEST_CASE("gemm: allocates no workspace after its largest product") {
  Cpu<double> device(1);
  error<false, false>(device, 100, 100, 100);
  const double* space = device.workspace(0, 0);
  error<false, false>(device, 20, 30, 40);
  error<false, false>(device, 100, 100, 100);
  CHECK(device.workspace(0, 0) == space);
}

TEST_CASE("bf16 matrix products: are rejected without float or the instructions") {
  CHECK_THROWS_WITH_AS(Cpu<double>({.bfloat16_products = true}), "bf16 matrix products need Cpu<float>", attn::Error);
  if (attn::kHasBfloat16Products)
    CHECK(Cpu<float>({.threads = 2, .bfloat16_products = true}).description() == "2 threads, bf16 matrix products");
  else
    CHECK_THROWS_AS(Cpu<float>({.bfloat16_products = true}), attn::Error);
}

const doctest::skip kWithInstructions(!attn::kHasBfloat16Products);

TEST_CASE("bf16 matrix products: equal float sums of rounded operands for every tile and block size" * kWithInstructions) {
  Cpu<float> device({.threads = 1, .bfloat16_products = true});
  const auto check_all = [&](Index rows, Index cols, Index depth, double tolerance) {
    CAPTURE(rows);
    CAPTURE(cols);
    CAPTURE(depth);
    CHECK(error<true, false>(device, rows, cols, depth) <= tolerance);
    CHECK(error<true, true>(device, rows, cols, depth) <= tolerance);
    if (rows > attn::cpu::kFewRows) CHECK(error<false, false>(device, rows, cols, depth) <= tolerance);
    if (rows > attn::cpu::kFewRowsTransposed) CHECK(error<false, true>(device, rows, cols, depth) <= tolerance);
  };
  for (Index rows = 1; rows <= 17; ++rows)
    for (Index cols = 1; cols <= 17; ++cols)
      for (const Index depth : {0, 1, 3, 4, 5, 8}) check_all(rows, cols, depth, 3e-6);
  for (Index rows = 49; rows <= 57; ++rows)
    for (Index cols = 1; cols <= 9; ++cols)
      for (const Index depth : {1, 4, 7}) check_all(rows, cols, depth, 3e-6);
  check_all(270, 70, 1030, 5e-5);  // several blocks in every direction
  check_all(67, 259, 1025, 5e-5);
}

TEST_CASE("bf16 matrix products: round to nearest even and only if enabled" * kWithInstructions) {
  const float x = 1 + 0x1p-8F, y = 1 + 0x3p-8F, z = 1 + 0x1.2p-8F;  // between 1, 1 + 2^-7 and 1 + 2^-6
  Cpu<float> plain(1), rounding({.threads = 1, .bfloat16_products = true});
  for (Cpu<float>* device : {&plain, &rounding}) {
    const Tensor<Cpu<float>> a(*device, 1, 3, {x, y, z}), b(*device, 1, 1, 1.0), c(*device, 3, 1, 0.0);
    attn::cpu::gemm<true, false>(*device, 0, Matrix<const float>(a), Matrix<const float>(b), c.view());
    CHECK(c.read() == (device == &plain ? Numbers{x, y, z} : Numbers{1, 1 + 0x1p-6, 1 + 0x1p-7}));
  }
}

TEST_CASE("bf16 matrix products: keep infinity and NaN and overflow to infinity" * kWithInstructions) {
  Cpu<float> device({.threads = 1, .bfloat16_products = true});
  const float infinite = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
  const Tensor<Cpu<float>> a(device, 1, 4, {infinite, std::nan(""), largest, 0x1.fep127}), b(device, 1, 1, 1.0);
  const Tensor<Cpu<float>> c(device, 4, 1, 0.0);
  attn::cpu::gemm<true, false>(device, 0, Matrix<const float>(a), Matrix<const float>(b), c.view());
  const Numbers numbers = c.read();
  CHECK(numbers[0] == HUGE_VAL);
  CHECK(std::isnan(numbers[1]));
  CHECK(numbers[2] == HUGE_VAL);
  CHECK(numbers[3] == 0x1.fep127);
}

TEST_CASE("bf16 matrix products: results do not depend on how rows and columns are split" * kWithInstructions) {
  constexpr Index kRows = 61, kCols = 45, kDepth = 1030;
  Cpu<float> device({.threads = 1, .bfloat16_products = true});
  const Tensor<Cpu<float>> a(device, kRows, kDepth, random_numbers(kRows * kDepth, 1)), whole(device, kRows, kCols, 0.0);
  const Tensor<Cpu<float>> b(device, kCols, kDepth, random_numbers(kCols * kDepth, 2)), cut(device, kRows, kCols, 0.0);
  const auto multiply = [&](const Matrix<float>& c, Index top, Index left) {
    attn::cpu::gemm<false, true>(device, 0, Matrix<const float>(a).row_range(top, c.rows),
                                 Matrix<const float>(b).row_range(left, c.cols), c, 1.0F, kRows);
  };
  multiply(whole.view(), 0, 0);
  for (const auto& [top, bottom] : {std::pair<Index, Index>{0, 1}, {1, 20}, {20, kRows}})
    for (const auto& [left, right] : {std::pair<Index, Index>{0, 3}, {3, 4}, {4, kCols}})
      multiply(cut.view().row_range(top, bottom - top).columns(left, right - left), top, left);
  CHECK(same_bits(cut.read(), whole.read()));
}
