#pragma once
#include <string>
#include <utility>
#include <vector>

/// A line of a figure. Lines of one model have a colour, lines of one origin a kind of stroke.
struct FigureLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x, y
  int colour = 0;
  enum Stroke { solid, dashed, dotted } stroke = solid;
};

/// A place on an axis, and what stands there.
struct FigureTick {
  double at;
  std::string label;
};

/// Lines against each other's axes, as an SVG picture that stands alone and follows the reader's light or dark theme.
struct Figure {
  std::string title = {}, x_label = {}, y_label = {};
  std::vector<FigureTick> x_ticks = {}, y_ticks = {};  // the first and the last are the axis's ends
  bool x_logarithmic = false, y_logarithmic = false;
  std::vector<FigureLine> lines = {};

  std::string draw() const;
};

/// 1, 2 and 5 times powers of ten that enclose all values of some lines.
std::vector<FigureTick> logarithmic_ticks(const std::vector<FigureLine>& lines);
