#pragma once
#include <Eigen/Core>

#include "attn/ops/number.hpp"

namespace attn::cpu {

/// The result of comparing two packs, lane by lane.
template <class T>
struct PackMask {
  typename Eigen::internal::packet_traits<T>::type packet;
};

/// A SIMD vector of numbers, with the math functions of ops/number.hpp.
template <class T>
struct Pack {
  using Traits = Eigen::internal::packet_traits<T>;
  using Packet = typename Traits::type;
  static constexpr Index lanes = Traits::size;

  Packet packet;

  Pack() = default;
  Pack(const Packet& numbers) : packet(numbers) {}
  template <class A>
  requires std::is_arithmetic_v<A> Pack(A number) : packet(Eigen::internal::pset1<Packet>(static_cast<T>(number))) {}

  static Pack load(const T* from) { return Eigen::internal::ploadu<Packet>(from); }
  void store(T* to) const { Eigen::internal::pstoreu(to, packet); }
  /// The first `count` lanes; the others are 1.
  static Pack load(const T* from, Index count) {
    T numbers[lanes];
    for (Index i = 0; i < lanes; ++i) numbers[i] = i < count ? from[i] : T(1);
    return load(numbers);
  }
  void store(T* to, Index count) const {
    T numbers[lanes];
    store(numbers);
    for (Index i = 0; i < count; ++i) to[i] = numbers[i];
  }

  friend Pack operator-(const Pack& a) { return Eigen::internal::pnegate(a.packet); }
  friend Pack operator+(const Pack& a, const Pack& b) { return Eigen::internal::padd(a.packet, b.packet); }
  friend Pack operator-(const Pack& a, const Pack& b) { return Eigen::internal::psub(a.packet, b.packet); }
  friend Pack operator*(const Pack& a, const Pack& b) { return Eigen::internal::pmul(a.packet, b.packet); }
  friend Pack operator/(const Pack& a, const Pack& b) { return Eigen::internal::pdiv(a.packet, b.packet); }
  /// a b + c
  static Pack multiply_add(const Pack& a, const Pack& b, const Pack& c) {
    return Eigen::internal::pmadd(a.packet, b.packet, c.packet);
  }
  Pack& operator+=(const Pack& b) { return *this = *this + b; }
  Pack& operator-=(const Pack& b) { return *this = *this - b; }
  Pack& operator*=(const Pack& b) { return *this = *this * b; }
  Pack& operator/=(const Pack& b) { return *this = *this / b; }

  using Mask = PackMask<T>;
  friend Mask operator<(const Pack& a, const Pack& b) { return {Eigen::internal::pcmp_lt(a.packet, b.packet)}; }
  friend Mask operator<=(const Pack& a, const Pack& b) { return {Eigen::internal::pcmp_le(a.packet, b.packet)}; }
  friend Mask operator>(const Pack& a, const Pack& b) { return b < a; }
  friend Mask operator>=(const Pack& a, const Pack& b) { return b <= a; }
  friend Mask operator==(const Pack& a, const Pack& b) { return {Eigen::internal::pcmp_eq(a.packet, b.packet)}; }
  friend Mask operator!=(const Pack& a, const Pack& b) {
    return {Pack::where(a == b, Pack(0), Pack(Eigen::internal::ptrue(a.packet))).packet};
  }
  static Pack where(const Mask& condition, const Pack& a, const Pack& b) {
    return Eigen::internal::pselect(condition.packet, a.packet, b.packet);
  }

  /// Applies f to each lane, for functions without vector instructions.
  static Pack by_lane(const Pack& x, const auto& f) {
    T numbers[lanes];
    x.store(numbers);
    for (T& number : numbers) number = f(number);
    return load(numbers);
  }

  Pack exp() const {
    if constexpr (Traits::HasExp) {
      // Eigen clamps its argument, also NaN. Beyond these bounds exp is infinite, or subnormal and set to 0.
      constexpr bool kFloat = sizeof(T) == 4;
      constexpr T kHigh = kFloat ? T(88.72283) : T(709.782712893384), kLow = kFloat ? T(-87.33654) : T(-708.3964185322641);
      const Pack inside =
          where(Pack(kHigh) < *this, Pack(std::numeric_limits<T>::infinity()), Eigen::internal::pexp(packet));
      return where(*this == *this, where(*this < Pack(kLow), Pack(0), inside), *this);
    } else {
      return by_lane(*this, [](T number) { return std::exp(number); });
    }
  }
  Pack log() const {
    if constexpr (Traits::HasLog)
      return Eigen::internal::plog(packet);
    else
      return by_lane(*this, [](T number) { return std::log(number); });
  }
  /// log(1 + x) * x / ((1 + x) - 1) cancels the rounding error of 1 + x (Higham 2002, section 1.14.1).
  Pack log1p() const {
    const Pack sum = Pack(1) + *this, rounded = sum - Pack(1);
    const Pack scaled = where(sum < Pack(std::numeric_limits<T>::infinity()), sum.log() * (*this / rounded), sum.log());
    return where(rounded == Pack(0), *this, scaled);
  }
  Pack sqrt() const {
    if constexpr (Traits::HasSqrt)
      return Eigen::internal::psqrt(packet);
    else
      return by_lane(*this, [](T number) { return std::sqrt(number); });
  }
  Pack abs() const { return Eigen::internal::pabs(packet); }
  Pack tanh() const {
    if constexpr (Traits::HasTanh) {
      // Eigen's tanh of floats ends below 1 on some processors, and clamps NaN.
      const Pack sign = where(*this < Pack(0), Pack(-1), Pack(1));
      const Pack inside = where(Pack(T(9.1)) < abs(), sign, Eigen::internal::ptanh(packet));
      return where(*this == *this, inside, *this);
    } else {
      return by_lane(*this, [](T number) { return std::tanh(number); });
    }
  }
  Pack erf() const {
    return by_lane(*this, [](T number) { return std::erf(number); });
  }
};

/// The lanes of a pack that are used. A type for each case, so that full packs need no checks.
template <class T>
struct AllLanes {
  static Pack<T> load(const T* from) { return Pack<T>::load(from); }
  static void store(T* to, const Pack<T>& pack) { pack.store(to); }
  static Pack<T> used(const Pack<T>& pack) { return pack; }
};
template <class T>
struct SomeLanes {
  Index count;
  Pack<T> load(const T* from) const { return Pack<T>::load(from, count); }
  void store(T* to, const Pack<T>& pack) const { pack.store(to, count); }
  /// The pack with 0 in unused lanes.
  Pack<T> used(const Pack<T>& pack) const {
    T numbers[Pack<T>::lanes] = {};
    pack.store(numbers, count);
    return Pack<T>::load(numbers);
  }
};

/// visit(j, lanes) for the packs of a row: full ones, then one for the remaining columns.
template <class T, class Visit>
void for_each_pack(Index cols, const Visit& visit) {
  constexpr Index kLanes = Pack<T>::lanes;
  Index j = 0;
  for (; j + kLanes <= cols; j += kLanes) visit(j, AllLanes<T>{});
  if (j < cols) visit(j, SomeLanes<T>{cols - j});
}

}  // namespace attn::cpu

namespace attn {
template <class T>
inline constexpr bool is_number<cpu::Pack<T>> = true;
}  // namespace attn
