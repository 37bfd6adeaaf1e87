#pragma once
#include <initializer_list>
#include <iterator>

#include "attn/core/format_count.hpp"
#include "attn/text/utf8.hpp"

namespace attn {

/// Escapes text for elements and quoted attributes. Drops control characters, which XML forbids, and repairs invalid UTF-8.
inline std::string escaped(std::string_view text) {
  using Entity = std::pair<char32_t, std::string_view>;
  constexpr Entity entities[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'\'', "&#39;"}, {'"', "&quot;"}};
  std::string safe;
  for (const utf8::Character& letter : utf8::Characters(text))
    if (const auto found = std::ranges::find(entities, letter.code, &Entity::first); found != std::end(entities))
      safe += found->second;
    else if (letter.code >= ' ' && letter.code != 0xFFFE && letter.code != 0xFFFF)
      utf8::append(safe, letter.code);
  return safe;
}

/// Style rules with overrides for a dark theme. Includes the rules for text, title and paper, which all pictures share.
inline std::string themed_style(std::string_view light, std::string_view dark) {
  return "text{font:13px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#3c434d}.paper{fill:#fff}"
         ".title{font-size:17px;font-weight:600;fill:#14181f}" +
         std::string(light) +
         "@media(prefers-color-scheme:dark){text{fill:#b9c1cc}.paper{fill:#12161c}.title{fill:#f0f3f7}" +
         std::string(dark) + "}";
}

/// An SVG element that grows as shapes are added. Lengths are pixels, rounded to a tenth.
class Canvas {
 public:
  static constexpr const char* stand_alone = "xmlns='http://www.w3.org/2000/svg'";  // not needed within HTML

  /// Begins a picture that scales to the space around it. Readers hear the name.
  Canvas(double width, double height, std::string_view name, const std::string& attributes = stand_alone)
      : width_(width), height_(height) {
    svg_ = "<svg " + attributes + " viewBox='0 0 " + number(width) + " " + number(height) + "' role='img'><title>" +
           escaped(name) + "</title>\n";
  }
  static Canvas fixed(double width, double height, std::string_view name) {
    return {width, height, name,
            std::string(stand_alone) + " width='" + number(width) + "' height='" + number(height) + "'"};
  }

  /// Formats a length. The decimal point does not depend on the locale.
  static std::string number(double value) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, std::round(value * 10) / 10 + 0.0).ptr;  // no -0
    return {digits, end};
  }

  void style(const std::string& rules) { add("<style>" + rules + "</style>\n"); }
  void paper() { shape("rect", {{"width", width_}, {"height", height_}, {"rx", 8}}, "class='paper'"); }
  void text(double x, double y, std::string_view words, std::string_view attributes = {}) {
    add("<text x='" + number(x) + "' y='" + number(y) + "'" + spaced(attributes) + ">" + escaped(words) + "</text>\n");
  }
  void line(double x1, double y1, double x2, double y2, const std::string& kind) {
    shape("line", {{"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}}, "class='" + kind + "'");
  }
  /// An element without contents: rect, line, circle, path.
  void shape(std::string_view element, std::initializer_list<std::pair<const char*, double>> lengths,
             std::string_view attributes = {}) {
    (svg_ += '<') += element;
    for (const auto& [name, value] : lengths) svg_ += std::string(" ") + name + "='" + number(value) + "'";
    add(spaced(attributes) + "/>\n");
  }
  void begin_group(std::string_view kind) { ((svg_ += "<g class='") += kind) += "'>"; }
  void end_group() { add("</g>\n"); }
  std::string finish() && { return std::move(svg_) + "</svg>\n"; }

 private:
  static std::string spaced(std::string_view attributes) {
    return (attributes.empty() ? "" : " ") + std::string(attributes);
  }
  void add(std::string_view markup) { svg_ += markup; }

  double width_, height_;
  std::string svg_;
};

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

/// The decimal point does not depend on the locale.
inline std::string written(double value, std::chars_format format, int digits) {
  char text[400];
  return {text, std::to_chars(text, std::end(text), value, format, digits).ptr};
}

/// Formats a value with at most this many significant digits.
inline std::string significant(double value, int digits) { return written(value, std::chars_format::general, digits); }

/// Formats a value with the decimals that a spacing of `every` needs, and with thousands separators.
inline std::string label(double value, double every) {
  if (std::abs(value) >= 1e7) return significant(value, 3);
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(every) + 1e-9)));
  return with_separators(written(std::abs(value) < every / 2 ? 0.0 : value, std::chars_format::fixed, decimals));
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
