#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "attn/text/utf8.hpp"

namespace attn {

/// Escapes text for elements and quoted attributes. Drops control characters, which XML forbids, and replaces invalid UTF-8
/// by U+FFFD.
inline std::string escaped(std::string_view text) {
  using Entity = std::pair<char32_t, std::string_view>;
  constexpr Entity entities[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'\'', "&#39;"}, {'"', "&quot;"}};
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded letter = utf8::decode(text, at);
    at += letter.length;
    if (const auto found = std::ranges::find(entities, letter.code, &Entity::first); found != std::end(entities))
      safe += found->second;
    else if (letter.code >= ' ' && letter.code != 0xFFFE && letter.code != 0xFFFF)
      utf8::append(safe, letter.code);
  }
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
  /// A picture of fixed size.
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
  /// Ends the picture.
  std::string finish() && { return std::move(svg_) + "</svg>\n"; }

 private:
  static std::string spaced(std::string_view attributes) {
    return (attributes.empty() ? "" : " ") + std::string(attributes);
  }
  void add(std::string_view markup) { svg_ += markup; }

  double width_, height_;
  std::string svg_;
};

}  // namespace attn
