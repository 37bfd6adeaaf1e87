#include "attn/cpu/gemm.hpp"

#include <doctest/doctest.h>

#include "support/tensor.hpp"

using attn::Cpu;
using attn::Index;
using attn::Matrix;

namespace {

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
        expected[static_cast<std::size_t>(i * cols + j)] +=
            0.5 * static_cast<double>(TransposeA ? a.view()(k, i) : a.view()(i, k)) *
            static_cast<double>(TransposeB ? b.view()(j, k) : b.view()(k, j));
  attn::cpu::gemm<TransposeA, TransposeB>(device, 0, Matrix<const T>(a), Matrix<const T>(b), c.view(), T(0.5));
  CHECK(c.outside_untouched());
  return distance(c.read(), expected);
}

}  // namespace

TEST_CASE_TEMPLATE("gemm adds the product of slices, each transposed or not", T, float, double) {
  Cpu<T> device(1);
  const double tolerance = sizeof(T) == 8 ? 1e-13 : 5e-5;
  const Index sizes[][3] = {{1, 1, 1},   {2, 3, 5},     {7, 5, 7},    {33, 17, 9}, {1, 70, 64},
                            {64, 1, 33}, {50, 49, 600}, {2, 133, 21}, {48, 9, 31}, {49, 10, 31}};
  for (const auto& [rows, cols, depth] : sizes) {
    CAPTURE(rows);
    CHECK(error<false, false>(device, rows, cols, depth) <= tolerance);
    CHECK(error<true, false>(device, rows, cols, depth) <= tolerance);
    CHECK(error<false, true>(device, rows, cols, depth) <= tolerance);
    CHECK(error<true, true>(device, rows, cols, depth) <= tolerance);
  }
}

TEST_CASE("gemm of nothing changes nothing") {
  Cpu<double> device(1);
  CHECK(error<false, false>(device, 0, 3, 2) == 0);
  CHECK(error<false, false>(device, 3, 0, 2) == 0);
  CHECK(error<false, true>(device, 3, 2, 0) == 0);
}

TEST_CASE("gemm allocates no workspace once it has seen its largest product") {
  Cpu<double> device(1);
  error<false, false>(device, 100, 100, 100);
  const double* space = device.workspace(0, 0);
  error<false, false>(device, 20, 30, 40);
  error<false, false>(device, 100, 100, 100);
  CHECK(device.workspace(0, 0) == space);
}
