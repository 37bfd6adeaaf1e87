#pragma once
#include <type_traits>

#include "attn/ops/number.hpp"

namespace attn {

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
