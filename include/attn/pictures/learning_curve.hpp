#pragma once
#include "attn/pictures/chart.hpp"

namespace attn {

/// A curve: loss in nats per token (the log of the perplexity) at non-decreasing steps.
struct Series {
  struct Point {
    double step = 0, loss = 0;
  };
  std::string name;
  std::vector<Point> points;
  bool noisy = false;  // a mean over few batches, as in training; the lowest value is then taken from a moving average
};

namespace learning_curve {

/// The lowest loss of a curve; for a noisy one, of a moving average over 1/20 of its points, at least five.
inline std::optional<double> lowest(const Series& series) {
  std::vector<double> sums{0};  // prefix sums
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

}  // namespace learning_curve

/// Draws the series as a stand-alone SVG: loss on the left axis, perplexity on the right, each curve's minimum in the
/// legend. Follows the reader's light or dark theme.
inline std::string draw_learning_curve(std::string_view title, std::span<const Series> series) {
  Chart chart{.title = std::string(title), .x_label = "step", .y_label = "loss, nats per token"};
  for (const Series& one : series) {
    ChartLine line = chart::numbered(one.name, chart.lines.size());
    if (const auto best = learning_curve::lowest(one))
      line.name += std::string(one.noisy ? ", smoothed, lowest " : ", lowest ") + axes::label(*best, 1e-3) +
                   " (perplexity " + axes::rounded(std::exp(*best), 3) + ")";
    for (const Series::Point& point : one.points) line.points.push_back({point.step, point.loss});
    line.points = chart::thinned(line.points);
    chart.lines.push_back(std::move(line));
  }
  auto [steps, losses] = chart::ranges(chart.lines);
  if (steps.empty()) steps = losses = {0, 1};
  chart.x = axes::steps(steps, 6, axes::label), chart.y = axes::linear(losses, 5, axes::label);
  chart.right_label = "perplexity";
  for (const Axis::Tick& tick : chart.y.ticks) {
    const double perplexity = std::exp(tick.at), apart = perplexity * (chart.y.ticks[1].at - chart.y.ticks[0].at);
    chart.right_ticks.push_back({tick.at, axes::rounded(perplexity, 3, apart)});
  }
  return chart.draw();
}

}  // namespace attn
