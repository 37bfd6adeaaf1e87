#include "line_figure.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <locale>
#include <sstream>

#include "attn/core/error.hpp"
#include "attn/core/markup.hpp"
#include "attn/train/learning_curve.hpp"

using namespace attn;

namespace {

/// From values to pixels.
struct Scale {
  double first, last, from, to;
  bool logarithmic;

  double operator()(double value) const {
    const auto height = [&](double x) { return logarithmic ? std::log(x) : x; };
    return from + (to - from) * (height(value) - height(first)) / (height(last) - height(first));
  }
};

}  // namespace

std::string Figure::draw() const {
  require(x_ticks.size() > 1 && y_ticks.size() > 1, "a figure needs two ticks on either axis");
  constexpr double width = 800, left = 64, right = 784;
  const auto rows = static_cast<double>((lines.size() + 1) / 2);  // of the legend, two a row
  const double top = 84 + 22 * rows, bottom = top + 340, height = bottom + 56;
  const Scale x{x_ticks.front().at, x_ticks.back().at, left, right, x_logarithmic};
  const Scale y{y_ticks.front().at, y_ticks.back().at, bottom, top, y_logarithmic};

  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::fixed << std::setprecision(1);
  const auto text = [&](double at_x, double at_y, std::string_view attributes, std::string_view words) {
    out << "<text x='" << at_x << "' y='" << at_y << "' " << attributes << ">" << escaped(words) << "</text>\n";
  };
  const auto line = [&](double x1, double y1, double x2, double y2, std::string_view kind) {
    out << "<line x1='" << x1 << "' y1='" << y1 << "' x2='" << x2 << "' y2='" << y2 << "' class='" << kind << "'/>\n";
  };
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << width << ' ' << height << "' role='img'>\n<title>"
      << escaped(title) << "</title>\n"
      << learning_curve::style() << "<style>.s1{stroke-dasharray:7 5}.s2{stroke-dasharray:1.5 5}</style>\n"
      << "<rect class='paper' width='" << width << "' height='" << height << "' rx='8'/>\n";
  text(16, 32, "class='title'", title);
  text(16, top - 14, "", y_label);
  text((left + right) / 2, bottom + 44, "text-anchor='middle'", x_label);
  for (const FigureTick& tick : y_ticks) {
    line(left, y(tick.at), right, y(tick.at), &tick == &y_ticks.front() ? "axis" : "grid");
    text(left - 10, y(tick.at) + 4.5, "text-anchor='end'", tick.label);
  }
  for (const FigureTick& tick : x_ticks) {
    line(x(tick.at), bottom, x(tick.at), bottom + 5, "axis");
    text(x(tick.at), bottom + 22, &tick == &x_ticks.back() ? "text-anchor='end'" : "text-anchor='middle'", tick.label);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const FigureLine& one = lines[i];
    const auto colours = static_cast<int>(learning_curve::on_light.size());
    const std::string kind = "curve s" + std::to_string(one.stroke);
    out << "<g class='c" << one.colour % colours << "'><polyline class='" << kind << "' points='";
    for (const auto& [at_x, at_y] : one.points) out << x(at_x) << ',' << y(at_y) << ' ';
    out << "'/>";
    for (const auto& [at_x, at_y] : one.points) {
      if (one.points.size() > 12) break;  // dots only where they can be told apart
      out << "<circle cx='" << x(at_x) << "' cy='" << y(at_y) << "' r='3'/>";
    }
    const double legend_x = i % 2 == 0 ? 16 : 408, legend_y = 62 + 22 * std::floor(static_cast<double>(i) / 2);
    line(legend_x, legend_y - 4.5, legend_x + 32, legend_y - 4.5, kind);
    out << "</g>\n";
    text(legend_x + 40, legend_y, "", one.name);
  }
  out << "</svg>\n";
  return out.str();
}

std::vector<FigureTick> logarithmic_ticks(const std::vector<FigureLine>& lines) {
  double low = INFINITY, high = 0;
  for (const FigureLine& line : lines)
    for (const auto& [x, y] : line.points) low = std::min(low, y), high = std::max(high, y);
  require(low > 0 && std::isfinite(low) && std::isfinite(high), "a logarithmic axis needs numbers above 0");
  std::vector<FigureTick> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(low)));; ++power)
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double at = digit * std::pow(10, power);
      if (at <= low) ticks.clear();
      ticks.push_back({at, learning_curve::label(at, std::pow(10, power))});
      if (at >= high && ticks.size() > 1) return ticks;
    }
}
