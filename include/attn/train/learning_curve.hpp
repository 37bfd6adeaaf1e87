#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <limits>
#include <locale>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/file.hpp"
#include "attn/core/markup.hpp"

namespace attn {

/// One curve: a loss in nats per token (the logarithm of the perplexity) at steps that do not decrease.
struct Series {
  struct Point {
    double step = 0, loss = 0;
  };
  std::string name;
  std::vector<Point> points;
  bool noisy = false;  // of a few batches each, as in training: the lowest is one of means of neighbours
};

namespace learning_curve {

struct Ticks {
  double first = 0, last = 1, every = 1;
};

/// Round numbers that enclose [low, high], about `wanted` of them and at least `apart` apart.
inline Ticks ticks_around(double low, double high, int wanted, double apart = 0) {
  if (!(high > low)) high = low + std::max(std::abs(low) * 0.1, 1e-3);
  const double rough = std::max((high - low) / wanted, apart), power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power, every = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
  return {std::floor(low / every + 1e-9) * every, std::ceil(high / every - 1e-9) * every, every};
}

/// With as many decimals as the distance between neighbours asks for; thousands apart.
inline std::string label(double value, double every) {
  std::ostringstream text;
  text.imbue(std::locale::classic());  // a point, whatever the user's language writes
  if (std::abs(value) >= 1e7) {
    text << std::setprecision(3) << value;
    return text.str();
  }
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(every) + 1e-9)));
  text << std::fixed << std::setprecision(decimals) << (std::abs(value) < every / 2 ? 0.0 : value);
  std::string digits = text.str();
  const std::size_t front = digits.starts_with('-') ? 1 : 0, point = std::min(digits.find('.'), digits.size());
  for (std::size_t i = point; i > front + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

/// With three digits, or as many more as tell it from values that lie `every` apart.
inline std::string precise_label(double value, double every = std::numeric_limits<double>::infinity()) {
  const double third_digit = std::pow(10, std::floor(std::log10(std::max(std::abs(value), 1e-6))) - 2);
  return label(value, std::min(third_digit, every));
}

/// The points that are numbers; of many, the means of neighbours, so that a line has no more of them than pixels to show
/// them.
inline std::vector<Series::Point> drawable(const std::vector<Series::Point>& points, std::size_t most = 600) {
  std::vector<Series::Point> numbers, means;
  for (const Series::Point& point : points)
    if (std::isfinite(point.step) && std::isfinite(point.loss)) numbers.push_back(point);
  const std::size_t run = (numbers.size() + most - 1) / most;
  if (run <= 1) return numbers;
  for (std::size_t first = 0; first < numbers.size(); first += run) {
    const std::size_t count = std::min(run, numbers.size() - first);
    Series::Point mean;
    for (std::size_t i = first; i < first + count; ++i) {
      mean.step += numbers[i].step / static_cast<double>(count);
      mean.loss += numbers[i].loss / static_cast<double>(count);
    }
    means.push_back(mean);
  }
  means.front().step = numbers.front().step, means.back().step = numbers.back().step;  // the axis tells the whole run
  return means;
}

/// Colours that colour-blind readers can tell apart, on light paper and on dark. A seventh series begins again.
inline constexpr std::array<const char*, 6> on_light{"#0f62b4", "#d1500b", "#0a7d5a", "#a3367f", "#7a6400", "#555b66"};
inline constexpr std::array<const char*, 6> on_dark{"#64b5f6", "#ff9d57", "#4fd1a5", "#f08fcb", "#e3cb45", "#b4bac6"};

/// The lowest loss of a curve; of a noisy one the lowest mean of a twentieth of its points, but of five at least.
inline std::optional<double> lowest(const Series& series) {
  std::vector<double> sums{0};  // of all losses before
  for (const Series::Point& point : series.points)
    if (std::isfinite(point.step) && std::isfinite(point.loss)) sums.push_back(sums.back() + point.loss);
  const std::size_t points = sums.size() - 1;
  if (points == 0) return {};
  const std::size_t count = series.noisy ? std::min(std::max<std::size_t>(points / 20, 5), points) : 1;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t end = count; end <= points; ++end)
    best = std::min(best, (sums[end] - sums[end - count]) / static_cast<double>(count));
  return best;
}

inline std::string style() {
  const auto curves = [](const std::array<const char*, 6>& colours) {
    std::ostringstream rules;
    for (std::size_t i = 0; i < colours.size(); ++i)
      rules << ".c" << i << "{stroke:" << colours[i] << "}.c" << i << " circle{fill:" << colours[i] << "}";
    return rules.str();
  };
  return "<style>" +
         themed_style(
             ".grid{stroke:#e4e7ec}.axis{stroke:#9aa2ad}"
             ".curve{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}" +
                 curves(on_light),
             ".grid{stroke:#29303a}.axis{stroke:#5b6571}" + curves(on_dark)) +
         "</style>\n";
}

}  // namespace learning_curve

/// The series against the steps as an SVG picture that stands alone: loss on the left axis, the perplexity of the same
/// heights on the right one, the lowest point of each curve in the legend. Follows the reader's light or dark theme.
inline std::string draw_learning_curve(std::string_view title, std::span<const Series> series) {
  using namespace learning_curve;
  constexpr double width = 800, left = 64, right = 728, middle = (left + right) / 2;
  const double top = 98 + 22 * static_cast<double>(series.size()), bottom = top + 324, height = bottom + 56;

  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<std::vector<Series::Point>> curves;
  double first = infinity, last = -infinity, low = infinity, high = -infinity;
  for (const Series& one : series) {
    for (const Series::Point& point : curves.emplace_back(drawable(one.points))) {
      first = std::min(first, point.step), last = std::max(last, point.step);
      low = std::min(low, point.loss), high = std::max(high, point.loss);
    }
  }
  const bool nothing = first > last;
  if (nothing) first = low = 0, last = high = 1;
  if (first > 0 && first < last / 5) first = 0;  // near zero, begin there
  if (low > 0 && low < high / 4) low = 0;
  if (first == last) first -= 1, last += 1;
  const Ticks steps = ticks_around(first, last, 6, 1), losses = ticks_around(low, high, 5);
  const auto x_of = [&](double step) { return left + (right - left) * (step - first) / (last - first); };
  const auto y_of = [&](double loss) {
    return bottom - (bottom - top) * (loss - losses.first) / (losses.last - losses.first);
  };

  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::fixed << std::setprecision(1);
  const auto text = [&](double x, double y, std::string_view attributes, std::string_view words) {
    out << "<text x='" << x << "' y='" << y << "' " << attributes << ">" << escaped(words) << "</text>\n";
  };
  const auto line = [&](double x1, double y1, double x2, double y2, std::string_view kind) {
    out << "<line x1='" << x1 << "' y1='" << y1 << "' x2='" << x2 << "' y2='" << y2 << "' class='" << kind << "'/>\n";
  };

  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << width << ' ' << height << "' role='img'>\n<title>"
      << escaped(title) << "</title>\n"
      << style() << "<rect class='paper' width='" << width << "' height='" << height << "' rx='8'/>\n";
  text(16, 32, "class='title'", title);
  text(16, top - 18, "", "loss, nats per token");
  text(width - 16, top - 18, "text-anchor='end'", "perplexity");
  text(middle, bottom + 44, "text-anchor='middle'", "step");

  for (int i = 0; i <= std::lround((losses.last - losses.first) / losses.every); ++i) {
    const double loss = losses.first + i * losses.every, perplexity = std::exp(loss);
    line(left, y_of(loss), right, y_of(loss), i == 0 ? "axis" : "grid");
    text(left - 10, y_of(loss) + 4.5, "text-anchor='end'", label(loss, losses.every));
    text(right + 10, y_of(loss) + 4.5, "", precise_label(perplexity, perplexity * losses.every));
  }
  for (int i = 0; i <= std::lround((steps.last - steps.first) / steps.every); ++i) {
    const double step = steps.first + i * steps.every, x = x_of(step);
    if (x < left - 0.1 || x > right + 0.1) continue;
    line(x, bottom, x, bottom + 5, "axis");
    text(x, bottom + 22, "text-anchor='middle'", label(step, steps.every));
  }
  if (nothing) text(middle, (top + bottom) / 2, "text-anchor='middle'", "nothing to draw yet");

  for (std::size_t i = 0; i < curves.size(); ++i) {
    out << "<g class='c" << i % on_light.size() << "'><polyline class='curve' points='";
    for (const Series::Point& point : curves[i]) out << x_of(point.step) << ',' << y_of(point.loss) << ' ';
    out << "'/>";
    for (const Series::Point& point : curves[i]) {
      if (curves[i].size() > 40) break;  // dots only where they can be told apart
      out << "<circle cx='" << x_of(point.step) << "' cy='" << y_of(point.loss) << "' r='3'/>";
    }
    const double y = 62 + 22 * static_cast<double>(i);  // and its line of the legend
    line(16, y - 4.5, 40, y - 4.5, "curve");
    out << "</g>\n";
    std::string words = series[i].name;
    if (const auto best = lowest(series[i]))
      words += std::string(series[i].noisy ? ", smoothed, lowest " : ", lowest ") + label(*best, 1e-3) + " (perplexity " +
               precise_label(std::exp(*best)) + ")";
    text(48, y, "", words);
  }
  out << "</svg>\n";
  return out.str();
}

/// Writes that picture to a file, which is replaced if it exists.
inline void write_learning_curve(const std::filesystem::path& path, std::string_view title,
                                 std::span<const Series> series) {
  write_file(path, draw_learning_curve(title, series));
}

}  // namespace attn
