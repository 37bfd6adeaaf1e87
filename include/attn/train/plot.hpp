#pragma once
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <vector>

#include "attn/core/markup.hpp"
#include "attn/train/learning_curve.hpp"

namespace attn {

/// Curves of one quantity against the steps, as a figure of an HTML page: each series' `loss` is any value.
struct Plot {
  std::string title;
  std::vector<Series> curves;
  bool logarithmic = false;  // heights are the values' logarithms; values that have none are not drawn
};

namespace plot {

/// Short enough for an axis on a telephone: 200k, 1.5M, 3e-05.
inline std::string axis_label(double value, double every) {
  if (std::abs(value) < every / 2) return "0";
  if (every >= 1e3 && std::abs(value) < 1e9) {
    const bool millions = every >= 5e5;
    return learning_curve::label(value / (millions ? 1e6 : 1e3), every / (millions ? 1e6 : 1e3)) + (millions ? "M" : "k");
  }
  if (every >= 1e-4 && std::abs(value) < 1e7) return learning_curve::label(value, every);
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::setprecision(2) << value;
  return text.str();
}

/// A value in a sentence: four digits.
inline std::string value_label(double value) {
  if (value == 0 || (std::abs(value) >= 1e-3 && std::abs(value) < 1e7))
    return learning_curve::label(value, value == 0 ? 1 : std::pow(10, std::floor(std::log10(std::abs(value))) - 3));
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::setprecision(4) << value;
  return text.str();
}

/// Where the lines of an axis are, and what they say.
struct Axis {
  struct Tick {
    double at;
    std::string label;
  };
  double first = 0, last = 1;
  std::vector<Tick> ticks;
};

inline Axis linear_axis(double low, double high) {
  if (low > 0 && low < high / 4) low = 0;
  const learning_curve::Ticks ticks = learning_curve::ticks_around(low, high, 4);
  Axis axis{ticks.first, ticks.last, {}};
  for (int i = 0; i <= std::lround((ticks.last - ticks.first) / ticks.every); ++i) {
    const double value = ticks.first + i * ticks.every;
    axis.ticks.push_back({value, axis_label(value, ticks.every)});
  }
  return axis;
}

/// Of logarithms to base 10: lines at 1, 2 and 5 times powers of ten; where those are many, at powers alone.
inline Axis logarithmic_axis(double low, double high) {
  const double first = std::floor(low), decades = std::ceil(high) - first;
  const double apart = std::max(1.0, std::ceil(decades / 6));
  std::vector<double> all;
  for (double power = first; power <= first + decades + apart; power += apart)
    for (const double digit : {1.0, 2.0, 5.0})
      if (digit == 1 || decades <= 2) all.push_back(power + std::log10(digit));
  Axis axis{all.front(), all.back(), {}};
  for (const double at : all) {
    if (at <= low + 1e-9) axis.first = at;
    if (at >= high - 1e-9) axis.last = std::min(axis.last, at);
  }
  if (axis.last <= axis.first) axis.last = *std::upper_bound(all.begin(), all.end(), axis.first + 1e-9);
  for (const double at : all)
    if (at >= axis.first - 1e-9 && at <= axis.last + 1e-9) {
      const double value = std::pow(10, at);
      axis.ticks.push_back({at, axis_label(value, std::pow(10, std::floor(at + 1e-9)))});
    }
  return axis;
}

/// Rules for figures with plots on light and dark paper.
inline std::string style() {
  const auto colours = [](const auto& all) {
    std::string rules;
    for (std::size_t i = 0; i < all.size(); ++i) rules += ".c" + std::to_string(i) + "{color:" + std::string(all[i]) + "}";
    return rules;
  };
  return "figure{margin:0;min-width:0}figure ul{list-style:none;margin:.2em 0;padding:0;font-size:.85em}"
         "figure li i{display:inline-block;width:1.2em;height:.2em;margin-right:.4em;vertical-align:middle;"
         "background:currentColor}figure li span{color:var(--text);overflow-wrap:anywhere}"
         "figure li b{color:var(--text);font-variant-numeric:tabular-nums}"
         ".plot{display:block;width:100%;touch-action:pan-y}.plot text{font-size:11px;fill:var(--quiet)}"
         ".plot polyline{fill:none;stroke:currentColor;stroke-width:1.6;stroke-linejoin:round}"
         ".plot circle{fill:currentColor}.plot .again{stroke-dasharray:4 3}"
         ".plot .grid{stroke:var(--line)}.plot .axis,.plot .rule{stroke:var(--quiet)}"
         ".plot .rule{stroke-dasharray:2 2;visibility:hidden}" +
         colours(learning_curve::on_light) + "@media(prefers-color-scheme:dark){" + colours(learning_curve::on_dark) + "}";
}

/// Shows the values under the pointer, or the finger, in place of the last ones.
inline constexpr const char* script = R"(
for (const svg of document.querySelectorAll('svg.plot')) {
  const figure = svg.closest('figure'), at = figure.querySelector('.at'), rule = svg.querySelector('.rule');
  const words = [...figure.querySelectorAll('li b')], last = [at, ...words].map(one => one.textContent);
  const curves = [...svg.querySelectorAll('polyline')].map(line => ({
    steps: line.dataset.x.split(' '), values: line.dataset.y.split(' '), x: [...line.points].map(point => point.x)}));
  const nearest = (all, x) => all.reduce((best, one, i) => Math.abs(one - x) < Math.abs(all[best] - x) ? i : best, 0);
  const leave = () => {
    rule.style.visibility = 'hidden';
    [at, ...words].forEach((one, i) => one.textContent = last[i]);
  };
  const show = event => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    const near = curves.map(curve => nearest(curve.x, x));
    const first = nearest(curves.map((curve, i) => curve.x[near[i]]), x);
    if (!curves.length) return;
    const pixel = curves[first].x[near[first]];
    rule.setAttribute('x1', pixel);
    rule.setAttribute('x2', pixel);
    rule.style.visibility = 'visible';
    at.textContent = 'step ' + Number(curves[first].steps[near[first]]).toLocaleString('en');
    curves.forEach((curve, i) => {  // one that has ended, or not begun, has no value
      const there = nearest(curve.x, pixel), ends = [curve.x[0] - 3, curve.x[curve.x.length - 1] + 3];
      words[i].textContent = pixel < ends[0] || pixel > ends[1] ? '\u2013' : curve.values[there];
    });
  };
  svg.addEventListener('pointermove', show);
  svg.addEventListener('pointerdown', show);
  svg.addEventListener('pointerleave', leave);
}
)";

}  // namespace plot

/// The figure: a legend with each curve's last value, and the curves as SVG. Empty where there is no point to draw.
inline std::string draw_plot(const Plot& of) {
  using namespace plot;
  constexpr double width = 360, height = 210, left = 46, right = 352, top = 8, bottom = 186;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto height_of = [&](double value) { return of.logarithmic ? std::log10(value) : value; };
  double first = infinity, last = -infinity, low = infinity, high = -infinity;
  struct Curve {
    std::string name, colour;  // of its place among all, so that it is the same in every plot
    bool again;                // as another curve before
    std::vector<Series::Point> points;
  };
  std::vector<Curve> curves;
  for (const Series& one : of.curves) {
    const auto place = static_cast<std::size_t>(&one - of.curves.data()), colours = learning_curve::on_light.size();
    Curve curve{one.name, "c" + std::to_string(place % colours), place >= colours, {}};
    for (const Series::Point& point : one.points)
      if (std::abs(height_of(point.loss)) < 1e100) curve.points.push_back(point);  // nor are those beyond all measure
    if (curve.points.empty()) continue;
    curve.points = learning_curve::drawable(curve.points, 400);
    for (const Series::Point& point : curve.points) {
      first = std::min(first, point.step), last = std::max(last, point.step);
      low = std::min(low, height_of(point.loss)), high = std::max(high, height_of(point.loss));
    }
    curves.push_back(std::move(curve));
  }
  if (curves.empty()) return "";
  if (first > 0 && first < last / 5) first = 0;  // near zero, begin there
  if (first == last) first -= 1, last += 1;
  const Axis axis = of.logarithmic ? logarithmic_axis(low, high) : linear_axis(low, high);
  const learning_curve::Ticks steps = learning_curve::ticks_around(first, last, 4, 1);
  const auto x_of = [&](double step) { return left + (right - left) * (step - first) / (last - first); };
  const auto y_of = [&](double at) { return bottom - (bottom - top) * (at - axis.first) / (axis.last - axis.first); };

  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::fixed << std::setprecision(1) << "<figure><h3>" << escaped(of.title) << "</h3><ul>";
  for (const Curve& curve : curves)
    out << "<li class='" << curve.colour << "'><i></i><span>" << escaped(curve.name) << "</span> <b>"
        << value_label(curve.points.back().loss) << "</b></li>";
  out << "</ul><svg class='plot' viewBox='0 0 " << width << ' ' << height << "' role='img'><title>" << escaped(of.title)
      << "</title>\n";
  for (const Axis::Tick& tick : axis.ticks)
    out << "<line class='" << (&tick == &axis.ticks.front() ? "axis" : "grid") << "' x1='" << left << "' x2='" << right
        << "' y1='" << y_of(tick.at) << "' y2='" << y_of(tick.at) << "'/><text text-anchor='end' x='" << left - 5 << "' y='"
        << y_of(tick.at) + 3.8 << "'>" << tick.label << "</text>\n";
  for (int i = 0; i <= std::lround((steps.last - steps.first) / steps.every); ++i) {
    const double step = steps.first + i * steps.every, x = x_of(step);
    if (x < left - 0.1 || x > right + 0.1) continue;
    out << "<text text-anchor='" << (x > right - 12 ? "end" : "middle") << "' x='" << std::min(x, right) << "' y='"
        << bottom + 16 << "'>" << axis_label(step, steps.every) << "</text>";
  }
  out << "<line class='rule' y1='" << top << "' y2='" << bottom << "'/>\n";
  for (const auto& [name, colour, again, points] : curves) {
    std::string numbers, heights;
    out << "<g class='" << colour << "'><polyline" << (again ? " class='again'" : "") << " points='";
    for (const Series::Point& point : points) {
      const char* space = &point == &points.front() ? "" : " ";
      out << space << x_of(point.step) << ',' << y_of(height_of(point.loss));
      numbers += space + std::to_string(std::llround(point.step));
      heights += space + value_label(point.loss);
    }
    out << "' data-x='" << numbers << "' data-y='" << heights << "'/>";
    for (const Series::Point& point : points) {
      if (points.size() > 30) break;  // dots only where they can be told apart
      out << "<circle cx='" << x_of(point.step) << "' cy='" << y_of(height_of(point.loss)) << "' r='2.4'/>";
    }
    out << "</g>\n";
  }
  out << "</svg><small class='at'>last values</small></figure>\n";
  return out.str();
}

}  // namespace attn
