#include "attn/ops/functions.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"

using attn::cpu::Pack;

namespace {

/// F's value and derivatives at some numbers: {y, dy/da, dy/db, ...}.
template <class F, class T, class... X>
Numbers value_and_derivatives(X... x) {
  const T y = F::value(static_cast<T>(x)...);
  const auto partials = attn::derivatives<F>(y, static_cast<T>(x)...);
  Numbers numbers{static_cast<double>(y)};
  for (const T& partial : partials.by) numbers.push_back(static_cast<double>(partial));
  return numbers;
}

/// The same computed in packs, of which all lanes must agree.
template <class F, class T, class... X>
Numbers packed(X... x) {
  const Pack<T> y = F::value(Pack<T>(x)...);
  const auto partials = attn::derivatives<F>(y, Pack<T>(x)...);
  Numbers numbers;
  const auto push = [&](const Pack<T>& pack) {
    T lanes[Pack<T>::lanes];
    pack.store(lanes);
    for (const T lane : lanes) CHECK((lane == lanes[0] || (std::isnan(lane) && std::isnan(lanes[0]))));
    numbers.push_back(static_cast<double>(lanes[0]));
  };
  push(y);
  for (const Pack<T>& partial : partials.by) push(partial);
  return numbers;
}

/// F without its derivative: dual numbers have to find it.
template <class F>
struct ValueOnly {
  template <class... T>
  static auto value(T... x) {
    return F::value(x...);
  }
};

/// Checks values and derivatives in float and double, alone, in packs, and by dual numbers.
template <class F, class... X>
void check_function(const Numbers& expected, X... x) {
  CAPTURE(expected[0]);
  double largest = 1;
  for (const double number : expected) largest = std::max(largest, std::abs(number));
  CHECK(distance(value_and_derivatives<F, double>(x...), expected) <= 1e-14 * largest);
  CHECK(distance(packed<F, double>(x...), expected) <= 1e-14 * largest);
  CHECK(distance(value_and_derivatives<ValueOnly<F>, double>(x...), expected) <= 1e-14 * largest);
  CHECK(distance(packed<ValueOnly<F>, double>(x...), expected) <= 1e-14 * largest);
  CHECK(distance(value_and_derivatives<F, float>(x...), expected) <= 4e-7 * largest);
  CHECK(distance(packed<F, float>(x...), expected) <= 4e-7 * largest);
  CHECK(distance(packed<ValueOnly<F>, float>(x...), expected) <= 4e-7 * largest);
}

template <class F, class T>
void check_huge() {
  CHECK(packed<F, T>(1e30)[0] == static_cast<double>(T(1e30)));
  CHECK(packed<F, T>(200.0)[0] == 200);
  CHECK(packed<F, T>(1e30)[1] == doctest::Approx(1).epsilon(1e-6));
  for (const double x : {-200.0, -1e30}) {
    CHECK(std::abs(packed<F, T>(x)[0]) <= 1e-8);
    CHECK(std::abs(packed<F, T>(x)[1]) <= 1e-8);
    CHECK(std::abs(value_and_derivatives<F, T>(x)[0]) <= 1e-8);
    CHECK(std::abs(value_and_derivatives<F, T>(x)[1]) <= 1e-8);
  }
}

/// User functions: SwiGLU's gate with its derivative, without one, and of two arguments.
struct Cube {
  template <class T>
  static T value(T x) {
    return x * x * x;
  }
  template <class T>
  static T derivative(T x) {
    return 3 * x * x;
  }
};
struct Gate {
  template <class T>
  static T value(T x) {
    return x * attn::sigmoid(T(1.702) * x);
  }
};
struct Huber {
  template <class T>
  static T value(T a, T b) {
    const T d = attn::abs(a - b);
    return attn::where(d < T(1), T(0.5) * d * d, d - T(0.5));
  }
};
struct Scaled {
  template <class T>
  static T value(T a, T b) {
    return a * a * b;
  }
  template <class T>
  static std::array<T, 2> derivative(T a, T b) {
    return {2 * a * b, a * a};
  }
};

}  // namespace

TEST_CASE("functions: values and derivatives of unary functions") {
  check_function<attn::functions::Negate>({-2, -1}, 2.0);
  check_function<attn::functions::Exp>({0.36787944117144233, 0.36787944117144233}, -1.0);
  check_function<attn::functions::Log>({1.0986122886681098, 1.0 / 3}, 3.0);
  check_function<attn::functions::Log1p>({0.09531017980432487, 1 / 1.1}, 0.1);
  check_function<attn::functions::Sqrt>({1.5, 1.0 / 3}, 2.25);
  check_function<attn::functions::Abs>({2.5, -1}, -2.5);
  check_function<attn::functions::Abs>({2.5, 1}, 2.5);
  check_function<attn::functions::Abs>({0, 0}, 0.0);
  check_function<attn::functions::Tanh>({-0.46211715726000973, 0.7864477329659274}, -0.5);
  check_function<attn::functions::Sigmoid>({0.7310585786300049, 0.19661193324148185}, 1.0);
  check_function<attn::functions::Relu>({0, 0}, -3.0);
  check_function<attn::functions::Relu>({0, 0}, 0.0);
  check_function<attn::functions::Relu>({3, 1}, 3.0);
  check_function<attn::functions::Gelu>({-0.15880800939172324, -0.08296408384578252}, -1.0);
  check_function<attn::functions::GeluExact>({0.34573123063700656, 0.8674951246561629}, 0.5);
  check_function<attn::functions::Silu>({2.8577223804672998, 1.0881041060151693}, 3.0);
  check_function<attn::functions::Softplus>({1.3132616875182228, 0.7310585786300049}, 1.0);
  check_function<attn::functions::Square>({6.25, -5}, -2.5);
  check_function<attn::functions::Erf>({0.5204998778130465, 0.8787825789354448}, 0.5);
}

TEST_CASE("functions: values and derivatives of functions of several arguments") {
  check_function<attn::functions::Add>({3.5, 1, 1}, 1.0, 2.5);
  check_function<attn::functions::Subtract>({-1.5, 1, -1}, 1.0, 2.5);
  check_function<attn::functions::Multiply>({2.5, 2.5, 1}, 1.0, 2.5);
  check_function<attn::functions::Divide>({0.4, 0.4, -0.16}, 1.0, 2.5);
  check_function<attn::functions::Max>({2, 0, 1}, 1.0, 2.0);
  check_function<attn::functions::Max>({2, 1, 0}, 2.0, 1.0);
  check_function<attn::functions::Max>({2, 0.5, 0.5}, 2.0, 2.0);
  check_function<attn::functions::Min>({1, 1, 0}, 1.0, 2.0);
  check_function<attn::functions::Min>({1, 0, 1}, 2.0, 1.0);
  check_function<attn::functions::Min>({2, 0.5, 0.5}, 2.0, 2.0);
  check_function<attn::functions::Where>({5, 0, 1, 0}, -1.0, 5.0, 7.0);
  check_function<attn::functions::Where>({7, 0, 0, 1}, 0.0, 5.0, 7.0);
  check_function<attn::functions::Less>({1, 0, 0}, 1.0, 2.0);
  check_function<attn::functions::Less>({0, 0, 0}, 2.0, 2.0);
  check_function<attn::functions::LessEqual>({1, 0, 0}, 2.0, 2.0);
  check_function<attn::functions::LessEqual>({0, 0, 0}, 3.0, 2.0);
  check_function<attn::functions::Greater>({1, 0, 0}, 3.0, 2.0);
  check_function<attn::functions::Greater>({0, 0, 0}, 2.0, 2.0);
  check_function<attn::functions::GreaterEqual>({1, 0, 0}, 2.0, 2.0);
  check_function<attn::functions::GreaterEqual>({0, 0, 0}, 1.0, 2.0);
}

TEST_CASE("functions: user functions use their own derivative or dual numbers") {
  check_function<Cube>({-8, 12}, -2.0);
  check_function<Scaled>({18, 12, 9}, 3.0, 2.0);
  check_function<Huber>({0.125, 0.5, -0.5}, 1.0, 0.5);
  check_function<Huber>({2.5, -1, 1}, -1.0, 2.0);
  const double s = 1 / (1 + std::exp(-1.702));
  check_function<Gate>({s, s + 1.702 * s * (1 - s)}, 1.0);
}

TEST_CASE_TEMPLATE("functions: huge inputs do not overflow", T, float, double) {
  check_huge<attn::functions::Gelu, T>();
  check_huge<attn::functions::GeluExact, T>();
  check_huge<attn::functions::Silu, T>();
  check_huge<attn::functions::Softplus, T>();
  check_huge<attn::functions::Relu, T>();
  CHECK(packed<attn::functions::Sigmoid, T>(-1e30) == Numbers{0, 0});
  CHECK(packed<attn::functions::Sigmoid, T>(1e30) == Numbers{1, 0});
  CHECK(packed<attn::functions::Tanh, T>(-1e30) == Numbers{-1, 0});
  CHECK(packed<attn::functions::Tanh, T>(1e30) == Numbers{1, 0});
  // In the tail softplus is exp, whose logarithm 1 + exp would have lost.
  CHECK(packed<attn::functions::Softplus, T>(-30.0)[0] == doctest::Approx(std::exp(-30.0)).epsilon(1e-6));
  CHECK(packed<attn::functions::Exp, T>(-1e30)[0] == 0);
  CHECK(std::isinf(packed<attn::functions::Exp, T>(1e30)[0]));
}

TEST_CASE_TEMPLATE("functions: logarithm and square root match PyTorch at and below 0", T, float, double) {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(packed<attn::functions::Log, T>(0.0) == Numbers{-infinity, infinity});
  CHECK(std::isnan(packed<attn::functions::Log, T>(-1.0)[0]));
  CHECK(packed<attn::functions::Log, T>(-1.0)[1] == -1);
  CHECK(packed<attn::functions::Sqrt, T>(0.0) == Numbers{0, infinity});
  CHECK(std::isnan(packed<attn::functions::Sqrt, T>(-1.0)[0]));
  CHECK(std::isnan(packed<attn::functions::Sqrt, T>(-1.0)[1]));
}

TEST_CASE_TEMPLATE("functions: NaN stays NaN in SIMD packs", T, float, double) {
  const auto check = [](const Numbers& numbers) { CHECK(std::isnan(numbers[0])); };
  check(packed<attn::functions::Exp, T>(kUnset));
  check(packed<attn::functions::Log, T>(kUnset));
  check(packed<attn::functions::Sqrt, T>(kUnset));
  check(packed<attn::functions::Tanh, T>(kUnset));
  check(packed<attn::functions::Sigmoid, T>(kUnset));
  check(packed<attn::functions::Relu, T>(kUnset));
  check(packed<attn::functions::Gelu, T>(kUnset));
  check(packed<attn::functions::GeluExact, T>(kUnset));
  check(packed<attn::functions::Silu, T>(kUnset));
  check(packed<attn::functions::Softplus, T>(kUnset));
  check(packed<attn::functions::Max, T>(kUnset, 1.0));
  check(packed<attn::functions::Max, T>(1.0, kUnset));
  check(packed<attn::functions::Min, T>(kUnset, 1.0));
  check(packed<attn::functions::Min, T>(1.0, kUnset));
}

TEST_CASE("dual numbers: arithmetic with constants on either side") {
  using Dual = attn::Dual<double>;
  const Dual x(2.0, 1.0);
  const Dual y = 1 / (1 + x * 3) - x / 4 + (5 - x);
  CHECK(y.value == doctest::Approx(1.0 / 7 - 0.5 + 3).epsilon(1e-15));
  CHECK(y.slope == doctest::Approx(-3.0 / 49 - 0.25 - 1).epsilon(1e-15));
  Dual z = x;
  z *= x;
  z += 1;
  z -= x;
  z /= 2;
  CHECK(z.value == 1.5);
  CHECK(z.slope == 1.5);
}
