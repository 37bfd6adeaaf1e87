#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace attn {

/// A range of values, from which an axis is made.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void add(double value) { low = std::min(low, value), high = std::max(high, value); }
  bool empty() const { return low > high; }
};

/// The values at both ends of an axis, and its tick marks.
struct Axis {
  struct Tick {
    double at;
    std::string label;
  };
  double first = 0, last = 1;
  std::vector<Tick> ticks = {};
  bool logarithmic = false;

  /// The position of a value: 0 at the first end, 1 at the last.
  double operator()(double value) const {
    const auto scaled = [&](double x) { return logarithmic ? std::log(x) : x; };
    return (scaled(value) - scaled(first)) / (scaled(last) - scaled(first));
  }
  /// An axis from the first tick to the last.
  static Axis between(std::vector<Tick> ticks, bool logarithmic) {
    const double first = ticks.front().at, last = ticks.back().at;
    return {first, last, std::move(ticks), logarithmic};
  }
};

namespace axes {

/// Formats a value with at most this many significant digits.
inline std::string significant(double value, int digits) {
  std::ostringstream text;
  text.imbue(std::locale::classic());  // decimal point in all locales
  text.precision(digits);
  text << value;
  return text.str();
}

/// Formats a value with the decimals that a spacing of `every` needs, and with thousands separators.
inline std::string label(double value, double every) {
  if (std::abs(value) >= 1e7) return significant(value, 3);
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(std::max(0, -static_cast<int>(std::floor(std::log10(every) + 1e-9))));
  text << std::fixed << (std::abs(value) < every / 2 ? 0.0 : value);
  std::string digits = text.str();
  const std::size_t front = digits.starts_with('-') ? 1 : 0, point = std::min(digits.find('.'), digits.size());
  for (std::size_t i = point; i > front + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

/// Formats a value with this number of digits, or more if values `every` apart need them.
inline std::string rounded(double value, int digits, double every = std::numeric_limits<double>::infinity()) {
  const double size = std::abs(value);
  if (!(size >= 1e-3 && size < 1e7)) return significant(value, digits);
  return label(value, std::min(std::pow(10, std::floor(std::log10(size)) - digits + 1), every));
}

/// Compact label: 200k, 1.5M, 3e-05.
inline std::string compact(double value, double every) {
  if (std::abs(value) < every / 2) return "0";
  const double unit = every >= 5e5 ? 1e6 : 1e3;
  if (every >= 1e3 && std::abs(value) < 1e9) return label(value / unit, every / unit) + (unit == 1e6 ? "M" : "k");
  return every >= 1e-4 && std::abs(value) < 1e7 ? label(value, every) : significant(value, 2);
}

/// Round numbers that enclose [low, high], about `wanted` of them and at least `apart` apart.
struct Ticks {
  double first, last, every;
};

inline Ticks ticks_around(double low, double high, int wanted, double apart = 0) {
  if (!(high > low)) high = low + std::max(std::abs(low) * 0.1, 1e-3);
  const double rough = std::max((high - low) / wanted, apart), power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power, every = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
  return {std::floor(low / every + 1e-9) * every, std::ceil(high / every - 1e-9) * every, every};
}

/// Formats a tick, given the spacing of the ticks.
using Label = std::string(double value, double every);

/// An axis from one round number to another. Starts at 0 if that is close.
inline Axis linear(Range of, int wanted, Label* label_of = compact, double apart = 0) {
  if (of.low > 0 && of.low < of.high / 4) of.low = 0;
  const Ticks ticks = ticks_around(of.low, of.high, wanted, apart);
  Axis axis{ticks.first, ticks.last};
  for (int i = 0; i <= std::lround((ticks.last - ticks.first) / ticks.every); ++i) {
    const double value = ticks.first + i * ticks.every;
    axis.ticks.push_back({value, label_of(value, ticks.every)});
  }
  return axis;
}

/// An axis of steps: it ends at the last step, and its ticks are whole numbers.
inline Axis steps(Range of, int wanted, Label* label_of = compact) {
  if (of.low > 0 && of.low < of.high / 4) of.low = 0;
  if (of.low == of.high) of.low -= 1, of.high += 1;
  Axis axis = linear(of, wanted, label_of, 1);
  axis.first = of.low, axis.last = of.high;
  std::erase_if(axis.ticks, [&](const Axis::Tick& tick) { return std::abs(axis(tick.at) - 0.5) > 0.5001; });
  return axis;
}

/// A logarithmic axis: ticks at 1, 2 and 5 times powers of ten. Only at powers of ten from `dense` decades on.
inline Axis logarithmic(Range of, double dense = 3, Label* label_of = compact) {
  const double first = std::floor(std::log10(of.low)), decades = std::ceil(std::log10(of.high)) - first;
  const double apart = std::max(1.0, std::ceil(decades / 6));
  std::vector<Axis::Tick> ticks;
  for (double power = first; power <= first + decades + apart; power += apart)
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double unit = std::pow(10, power), value = digit * unit;
      if (digit > 1 && decades >= dense) continue;
      if (value <= of.low * (1 + 1e-9)) ticks.clear();
      if (ticks.size() < 2 || ticks.back().at < of.high * (1 - 1e-9)) ticks.push_back({value, label_of(value, unit)});
    }
  return Axis::between(std::move(ticks), true);
}

}  // namespace axes
}  // namespace attn
