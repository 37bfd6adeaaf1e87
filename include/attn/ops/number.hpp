#pragma once
#include "attn/core/random.hpp"

// Math functions of numbers: float, double, a backend's vectors, and Dual. Code written with these functions, the
// arithmetic operators, and `where` instead of `?:` works for all of them.

namespace attn {

namespace gelu_numbers {
inline constexpr double slope = 0.7978845608028654;      // √(2/π)
inline constexpr double cube = 0.044715;                 // of x³
inline constexpr double root_half = 0.7071067811865476;  // 1/√2
inline constexpr double density = 0.3989422804014327;    // 1/√(2π)
inline constexpr double flat = 10;                       // for larger |x|, gelu is 0 or x in every precision
}  // namespace gelu_numbers

/// Whether T is a number type. Backends specialise it for their vectors.
template <class T>
inline constexpr bool is_number = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <class T>
concept Number = is_number<T>;

template <class T>
concept ScalarNumber = Number<T> && std::floating_point<T>;

// Backends' vectors provide these functions as members.
#define ATTN_MATH_FUNCTION(name, of_scalar) \
  template <Number T>                       \
  ATTN_BOTH T name(const T& x) {            \
    if constexpr (ScalarNumber<T>)          \
      return of_scalar(x);                  \
    else                                    \
      return x.name();                      \
  }
ATTN_MATH_FUNCTION(exp, std::exp)
ATTN_MATH_FUNCTION(log, std::log)
ATTN_MATH_FUNCTION(log1p, std::log1p)
ATTN_MATH_FUNCTION(sqrt, std::sqrt)
ATTN_MATH_FUNCTION(abs, std::fabs)
ATTN_MATH_FUNCTION(tanh, std::tanh)
ATTN_MATH_FUNCTION(erf, std::erf)
#undef ATTN_MATH_FUNCTION

/// 1 / x, with an error of at most two units in the last place.
template <Number T>
ATTN_BOTH T reciprocal(const T& x) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float>) return __fdividef(1.0f, x);
#endif
  return T(1) / x;
}
/// condition ? a : b. The condition is a comparison of numbers.
template <ScalarNumber T>
ATTN_BOTH T where(bool condition, T a, T b) {
  return condition ? a : b;
}
template <Number T>
requires(!ScalarNumber<T>) T where(const typename T::Mask& condition, const T& a, const T& b) {
  return T::where(condition, a, b);
}

template <Number T>
ATTN_BOTH T square(T x) {
  return x * x;
}
/// The larger number; NaN if one is NaN.
template <Number T>
ATTN_BOTH T maximum(T a, T b) {
  return where(a < b, b, where(b == b, a, b));
}
/// The smaller number; NaN if one is NaN.
template <Number T>
ATTN_BOTH T minimum(T a, T b) {
  return where(b < a, b, where(b == b, a, b));
}
template <Number T>
ATTN_BOTH T relu(T x) {
  return where(x < T(0), T(0), x);
}
template <Number T>
ATTN_BOTH T sigmoid(T x) {
  return reciprocal(T(1) + exp(-x));
}
/// x sigmoid(x)
template <Number T>
ATTN_BOTH T silu(T x) {
  return x * sigmoid(x);
}
/// log(1 + exp(x))
template <Number T>
ATTN_BOTH T softplus(T x) {
  return relu(x) + log1p(exp(-abs(x)));
}
/// tanh(√(2/π) (x + 0.044715 x³))
template <Number T>
ATTN_BOTH T tanh_in_gelu(T x) {
  return tanh(T(gelu_numbers::slope) * x * (T(1) + T(gelu_numbers::cube) * x * x));
}
/// The tanh approximation of GELU; torch.nn.GELU(approximate="tanh").
template <Number T>
ATTN_BOTH T gelu(T x) {
  return T(0.5) * x * (T(1) + tanh_in_gelu(x));
}
/// torch.nn.GELU
template <Number T>
ATTN_BOTH T gelu_exact(T x) {
  return T(0.5) * x * (T(1) + erf(x * T(gelu_numbers::root_half)));
}

/// A number and its derivative with respect to one variable: forward-mode differentiation.
template <class T>
struct Dual {
  T value{}, slope{};

  Dual() = default;
  ATTN_BOTH Dual(const T& number, const T& derivative) : value(number), slope(derivative) {}
  /// A constant.
  ATTN_BOTH Dual(const T& number) : value(number), slope(T(0)) {}
  template <class A>
  requires(std::is_arithmetic_v<A> && !std::is_same_v<A, T>) ATTN_BOTH Dual(A number)
      : value(static_cast<T>(number)), slope(T(0)) {}

  ATTN_BOTH friend Dual operator-(const Dual& a) { return {-a.value, -a.slope}; }
  ATTN_BOTH friend Dual operator+(const Dual& a, const Dual& b) { return {a.value + b.value, a.slope + b.slope}; }
  ATTN_BOTH friend Dual operator-(const Dual& a, const Dual& b) { return {a.value - b.value, a.slope - b.slope}; }
  ATTN_BOTH friend Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  ATTN_BOTH friend Dual operator/(const Dual& a, const Dual& b) {
    const T quotient = a.value / b.value;
    return {quotient, (a.slope - quotient * b.slope) / b.value};
  }
  ATTN_BOTH Dual& operator+=(const Dual& b) { return *this = *this + b; }
  ATTN_BOTH Dual& operator-=(const Dual& b) { return *this = *this - b; }
  ATTN_BOTH Dual& operator*=(const Dual& b) { return *this = *this * b; }
  ATTN_BOTH Dual& operator/=(const Dual& b) { return *this = *this / b; }

  ATTN_BOTH friend auto operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  ATTN_BOTH friend auto operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  ATTN_BOTH friend auto operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  ATTN_BOTH friend auto operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }
  ATTN_BOTH friend auto operator==(const Dual& a, const Dual& b) { return a.value == b.value; }
  ATTN_BOTH friend auto operator!=(const Dual& a, const Dual& b) { return a.value != b.value; }
};

template <class T>
inline constexpr bool is_number<Dual<T>> = is_number<T>;

template <class Condition, class T>
ATTN_BOTH Dual<T> where(const Condition& condition, const Dual<T>& a, const Dual<T>& b) {
  return {where(condition, a.value, b.value), where(condition, a.slope, b.slope)};
}

}  // namespace attn
