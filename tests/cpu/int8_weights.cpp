#include "attn/cpu/int8_weights.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/tensor.hpp"

using attn::Index;
using attn::Matrix;
using namespace attn::cpu;

namespace {

std::vector<float> random_floats(Index count, std::uint64_t seed, double bound = 1) {
  const Numbers numbers = random_numbers(count, seed, bound);
  return {numbers.begin(), numbers.end()};
}

/// x Wᵀ + bias with a variant's instructions.
template <class Lanes>
std::vector<float> product(const std::vector<float>& x, const std::vector<float>& w, const std::vector<float>& bias,
                           Index rows, Index depth, Index outputs, bool relu = false) {
  const Int8Weights<Lanes> weights(Matrix<const float>(w.data(), outputs, depth));
  std::vector<float> memory(static_cast<std::size_t>(Int8Rows<Lanes>::bytes(rows, depth) / 4 + 1));
  const Int8Rows<Lanes> q(memory.data(), rows, depth);
  for (Index i = 0; i < rows; ++i) q.quantise_row(i, x.data() + i * depth, depth);
  std::vector<float> y(static_cast<std::size_t>(rows * outputs), -77.0F);
  weights.multiply(q, 0, 0, bias.empty() ? nullptr : bias.data(), relu, Matrix<float>(y.data(), rows, outputs));
  return y;
}

/// The same by plain loops over what both sides are rounded to.
std::vector<float> plain(const std::vector<float>& x, const std::vector<float>& w, Index rows, Index depth, Index outputs) {
  const auto side = [depth](const std::vector<float>& numbers, Index lines, std::vector<float>& scales) {
    std::vector<std::int8_t> q(numbers.size());
    for (Index i = 0; i < lines; ++i)
      scales.push_back(quantise(numbers.data() + i * depth, depth, 0, q.data() + i * depth));
    return q;
  };
  std::vector<float> x_scales, w_scales, y;
  const auto a = side(x, rows, x_scales), b = side(w, outputs, w_scales);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < outputs; ++j) {
      int sum = 0;
      for (Index k = 0; k < depth; ++k)
        sum += a[static_cast<std::size_t>(i * depth + k)] * b[static_cast<std::size_t>(j * depth + k)];
      y.push_back(static_cast<float>(sum) *
                  (w_scales[static_cast<std::size_t>(j)] * x_scales[static_cast<std::size_t>(i)]));
    }
  return y;
}

// Variants that are not the fastest here are tested where the compiler may use them.
#ifdef __AVX2__
using Avx2 = Int8Avx2;
#else
using Avx2 = Int8Portable;
#endif
#if defined(__AVXVNNI__) || (defined(__AVX512VNNI__) && defined(__AVX512VL__))
using AvxVnni = Int8AvxVnni;
#else
using AvxVnni = Int8Portable;
#endif
#ifdef ATTN_AMX
using Vnni = Int8Avx512Vnni;
#else
using Vnni = Int8Portable;
#endif
#ifdef __ARM_FEATURE_DOTPROD
using DotProduct = Int8DotProduct;
#else
using DotProduct = Int8Portable;
#endif

const Index kSizes[][3] = {{1, 1, 1},    {1, 4, 16},     {1, 7, 5},     {2, 3, 64},   {3, 513, 70}, {5, 64, 64},
                           {6, 8, 65},   {7, 31, 129},   {13, 66, 1},   {16, 64, 32}, {17, 65, 33}, {32, 129, 97},
                           {49, 20, 63}, {100, 12, 200}, {290, 70, 16}, {12, 9, 32},  {25, 64, 31}, {40, 8192, 33}};

}  // namespace

TEST_CASE("int8 weights: match known values") {
  // Scales 1 and 2 of the weights' rows, 1 and 0.5 of the activations'.
  const std::vector<float> w{127, -3, 5, 254, 2, -4}, x{127, 10, -20, 0, 63.5F, 1}, bias{0.5F, -1};
  CHECK(product<Int8Lanes>(x, w, {}, 2, 3, 2) == std::vector<float>{127 * 127 - 3 * 10 - 5 * 20,
                                                                    2 * (127 * 127 + 1 * 10 + 2 * 20),
                                                                    0.5F * (-3 * 127 + 5 * 2), 127 - 2 * 2});
  CHECK(product<Int8Lanes>(x, w, bias, 2, 3, 2, true) == std::vector<float>{15999.5F, 32357, 0, 122});
}

TEST_CASE_TEMPLATE("int8 weights: every instruction set matches a plain loop for every size", Lanes, Int8Portable,
                   Int8Lanes, Avx2, AvxVnni, Vnni, DotProduct) {
  for (const auto& [rows, depth, outputs] : kSizes) {
    CAPTURE(rows);
    CAPTURE(depth);
    CAPTURE(outputs);
    const auto x = random_floats(rows * depth, 1), w = random_floats(outputs * depth, 2);
    CHECK(product<Lanes>(x, w, {}, rows, depth, outputs) == plain(x, w, rows, depth, outputs));
  }
  // The largest sums there are: no instruction may cut them off.
  const Index depth = 4096;
  for (const float sign : {1.0F, -1.0F}) {
    const std::vector<float> x(depth, 1.0F), w(2 * depth, sign);
    CHECK(product<Lanes>(x, w, {}, 1, depth, 2) == plain(x, w, 1, depth, 2));
  }
}

TEST_CASE("int8 weights: the error stays within the rounding error of both operands") {
  for (const auto& [rows, depth, outputs] : kSizes) {
    const auto x = random_floats(rows * depth, 3, 4), w = random_floats(outputs * depth, 4, 0.1),
               bias = random_floats(outputs, 5);
    const auto y = product<Int8Lanes>(x, w, bias, rows, depth, outputs);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < outputs; ++j) {
        double exact = bias[static_cast<std::size_t>(j)], most_x = 0, most_w = 0, sum_x = 0, sum_w = 0;
        for (Index k = 0; k < depth; ++k) {
          const double a = x[static_cast<std::size_t>(i * depth + k)], b = w[static_cast<std::size_t>(j * depth + k)];
          exact += a * b;
          most_x = std::max(most_x, std::abs(a)), most_w = std::max(most_w, std::abs(b));
          sum_x += std::abs(a), sum_w += std::abs(b);
        }
        const double half_x = most_x / 254, half_w = most_w / 254;
        const double bound = half_w * sum_x + half_x * sum_w + static_cast<double>(depth) * half_x * half_w;
        CHECK(std::abs(y[static_cast<std::size_t>(i * outputs + j)] - exact) <= bound + 1e-5);
      }
  }
}

TEST_CASE("int8 weights: a zero row gives the bias and a non-finite row gives NaN without affecting others") {
  const Index depth = 40, outputs = 70;
  auto x = random_floats(4 * depth, 6);
  const auto w = random_floats(outputs * depth, 7), bias = random_floats(outputs, 8);
  const auto before = product<Int8Lanes>(x, w, bias, 4, depth, outputs);
  std::fill_n(x.begin() + depth, depth, 0.0F);
  x[static_cast<std::size_t>(2 * depth + 5)] = std::numeric_limits<float>::infinity();
  const auto after = product<Int8Lanes>(x, w, bias, 4, depth, outputs, false);
  for (Index j = 0; j < outputs; ++j) {
    const auto at = [&](const std::vector<float>& y, Index i) { return y[static_cast<std::size_t>(i * outputs + j)]; };
    CHECK(at(after, 0) == at(before, 0));
    CHECK(at(after, 1) == bias[static_cast<std::size_t>(j)]);
    CHECK(std::isnan(at(after, 2)));
    CHECK(at(after, 3) == at(before, 3));
  }
  CHECK(std::isnan(product<Int8Lanes>(x, w, bias, 4, depth, outputs, true)[2 * outputs]));  // the ReLU hides nothing
}
