#pragma once
#include "attn/pictures/drawing.hpp"

namespace attn {

struct ChartLine {
  struct Point {
    double x = 0, y = 0;
  };
  enum Stroke { solid, dashed, dotted };

  std::string name;
  std::vector<Point> points;
  int colour = 0;
  Stroke stroke = solid;
};

namespace chart {

/// Colors for color-blind readers, on light and dark backgrounds.
inline constexpr std::array<const char*, 6> on_light{"#0f62b4", "#d1500b", "#0a7d5a", "#a3367f", "#7a6400", "#555b66"};
inline constexpr std::array<const char*, 6> on_dark{"#64b5f6", "#ff9d57", "#4fd1a5", "#f08fcb", "#e3cb45", "#b4bac6"};
inline constexpr int colours = on_light.size();

/// The rules of all lines. An element of class c2 has the third color.
inline std::string line_style() {
  const auto rules = [](const auto& all) {
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) text += ".c" + std::to_string(i) + "{color:" + all[i] + "}";
    return text;
  };
  return ".curve{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}"
         "circle{fill:currentColor}.s1{stroke-dasharray:7 5}.s2{stroke-dasharray:1.5 5}" +
         rules(on_light) + "@media(prefers-color-scheme:dark){" + rules(on_dark) + "}";
}

inline std::string colour_class(int colour) { return "c" + std::to_string(colour % colours); }
inline std::string stroke_class(const ChartLine& line) { return "curve s" + std::to_string(line.stroke); }

/// A line with the color and stroke of the i-th of several. Colors repeat with other strokes from the seventh on.
inline ChartLine numbered(std::string name, std::size_t i) {
  const int number = static_cast<int>(i);
  return {std::move(name), {}, number, number / colours % 2 == 0 ? ChartLine::solid : ChartLine::dashed};
}

/// The finite points. Averages neighbors if there are more than `most`, which is about one per pixel.
inline std::vector<ChartLine::Point> thinned(const std::vector<ChartLine::Point>& points, std::size_t most = 600) {
  std::vector<ChartLine::Point> numbers, means;
  for (const ChartLine::Point& point : points)
    if (std::isfinite(point.x) && std::isfinite(point.y)) numbers.push_back(point);
  const std::size_t run = (numbers.size() + most - 1) / most;
  if (run <= 1) return numbers;
  for (std::size_t first = 0; first < numbers.size(); first += run) {
    const std::size_t count = std::min(run, numbers.size() - first);
    ChartLine::Point mean;
    const auto divisor = static_cast<double>(count);
    for (std::size_t i = first; i < first + count; ++i) mean.x += numbers[i].x / divisor, mean.y += numbers[i].y / divisor;
    means.push_back(mean);
  }
  means.front().x = numbers.front().x, means.back().x = numbers.back().x;  // keeps the ends of the axis
  return means;
}

struct Ranges {
  ValueRange x, y;
};

inline Ranges ranges(const std::vector<ChartLine>& lines) {
  Ranges all;
  for (const ChartLine& line : lines)
    for (const ChartLine::Point& point : line.points) all.x.add(point.x), all.y.add(point.y);
  return all;
}

/// Two axes and their ends in pixels.
struct Plane {
  const Axis &x_axis, &y_axis;
  double left, right, top, bottom;

  double x(double value) const { return left + (right - left) * x_axis(value); }
  double y(double value) const { return bottom - (bottom - top) * y_axis(value); }
};

/// Draws grid lines and labels. The last label of the x axis ends at its tick if it would leave the canvas.
inline void draw_axes(Canvas& canvas, const Plane& plane, double width) {
  for (const Axis::Tick& tick : plane.y_axis.ticks) {
    const double y = plane.y(tick.at);
    canvas.line(plane.left, y, plane.right, y, &tick == &plane.y_axis.ticks.front() ? "axis" : "grid");
    canvas.text(plane.left - 6, y + 4, tick.label, "text-anchor='end'");
  }
  for (const Axis::Tick& tick : plane.x_axis.ticks) {
    const double x = plane.x(tick.at);
    canvas.line(x, plane.bottom, x, plane.bottom + 4, "axis");
    canvas.text(x, plane.bottom + 18, tick.label, x + 20 > width ? "text-anchor='end'" : "text-anchor='middle'");
  }
}

/// Draws a line, and its points as dots if there are few.
inline void draw_line(Canvas& canvas, const Plane& plane, const ChartLine& line, const std::string& attributes = {}) {
  std::string points;
  for (const auto& [x, y] : line.points)
    points += (points.empty() ? "" : " ") + Canvas::number(plane.x(x)) + "," + Canvas::number(plane.y(y));
  canvas.shape("polyline", {}, "class='" + stroke_class(line) + "' points='" + points + "'" + attributes);
  for (const auto& [x, y] : line.points)
    if (line.points.size() <= 30) canvas.shape("circle", {{"cx", plane.x(x)}, {"cy", plane.y(y)}, {"r", 3}});
}

}  // namespace chart

/// A line chart as a stand-alone SVG with a legend. Follows the reader's light or dark theme.
struct Chart {
  std::string title = {}, x_label = {}, y_label = {};
  Axis x = {}, y = {};
  std::vector<ChartLine> lines = {};
  int legend_columns = 1;
  std::string right_label = {};  // a second scale of the y axis
  std::vector<Axis::Tick> right_ticks = {};

  std::string draw() const {
    const auto count = static_cast<int>(lines.size());
    const double width = 800, left = 64, right = right_ticks.empty() ? 784 : 728, middle = (left + right) / 2;
    const double top = 98 + 22.0 * ((count + legend_columns - 1) / legend_columns), bottom = top + 324;
    const chart::Plane plane{x, y, left, right, top, bottom};
    Canvas canvas(width, bottom + 56, title);
    canvas.style(themed_style(".grid{stroke:#e4e7ec}.axis{stroke:#9aa2ad}" + chart::line_style(),
                              ".grid{stroke:#29303a}.axis{stroke:#5b6571}"));
    canvas.paper();
    canvas.text(16, 32, title, "class='title'");
    canvas.text(16, top - 18, y_label);
    canvas.text(width - 16, top - 18, right_label, "text-anchor='end'");
    canvas.text(middle, bottom + 44, x_label, "text-anchor='middle'");
    chart::draw_axes(canvas, plane, width);
    for (const Axis::Tick& tick : right_ticks) canvas.text(right + 6, plane.y(tick.at) + 4, tick.label);
    if (chart::ranges(lines).x.empty())
      canvas.text(middle, (top + bottom) / 2, "nothing to draw yet", "text-anchor='middle'");
    for (int i = 0; i < count; ++i) {
      const ChartLine& line = lines[static_cast<std::size_t>(i)];
      const double at = 16 + width / 2 * (i % legend_columns), height = 62 + 22 * (i / legend_columns);
      canvas.begin_group(chart::colour_class(line.colour));
      chart::draw_line(canvas, plane, line);
      canvas.line(at, height - 4.5, at + 28, height - 4.5, chart::stroke_class(line));
      canvas.end_group();
      canvas.text(at + 36, height, line.name);
    }
    return std::move(canvas).finish();
  }
};

}  // namespace attn
