#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "attn/pictures/chart.hpp"

namespace attn {

/// Curves of one quantity over the steps, as an HTML figure. A series' `loss` can hold any value.
struct Plot {
  std::string title;
  std::vector<Series> curves;
  bool logarithmic = false;  // log-scale heights; values without a logarithm are not drawn
};

namespace plot {

/// CSS for plots in light and dark mode.
inline std::string style() {
  return "figure{margin:0;min-width:0}figure ul{list-style:none;margin:.2em 0;padding:0;font-size:.85em}"
         "figure li i{display:inline-block;width:1.2em;height:.2em;margin-right:.4em;vertical-align:middle;"
         "background:currentColor}figure li span{color:var(--text);overflow-wrap:anywhere}"
         "figure li b{color:var(--text);font-variant-numeric:tabular-nums}"
         ".plot{display:block;width:100%;touch-action:pan-y}.plot text{font-size:11px;fill:var(--quiet)}"
         ".plot .grid{stroke:var(--line)}.plot .axis,.plot .rule{stroke:var(--quiet)}"
         ".plot .rule{stroke-dasharray:2 2;visibility:hidden}" +
         chart::line_style();
}

/// Shows the values under the pointer or finger instead of the last ones.
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

/// The figure: a legend with each curve's last value, and the curves as SVG. Empty if there are no points to draw.
inline std::string draw_plot(const Plot& of) {
  constexpr double width = 360, top = 8, bottom = 186, least = 1e-300, most = 1e100;  // values beyond are not drawn
  std::vector<ChartLine> lines;
  for (std::size_t i = 0; i < of.curves.size(); ++i) {  // the i-th curve has the same color in every plot
    ChartLine line = chart::numbered(of.curves[i].name, i);
    for (const auto& [step, value] : of.curves[i].points)
      if (std::abs(value) < most && (value >= least || !of.logarithmic)) line.points.push_back({step, value});
    line.points = chart::thinned(line.points, 400);
    if (!line.points.empty()) lines.push_back(std::move(line));
  }
  if (lines.empty()) return "";
  const auto [steps, values] = chart::ranges(lines);
  const Axis x = axes::steps(steps, 4), y = of.logarithmic ? axes::logarithmic(values) : axes::linear(values, 4);
  const chart::Plane plane{x, y, 46, 352, top, bottom};
  std::string legend;
  Canvas canvas(width, 210, of.title, "class='plot'");
  chart::draw_axes(canvas, plane, width);
  canvas.shape("line", {{"y1", top}, {"y2", bottom}}, "class='rule'");
  for (const ChartLine& line : lines) {
    const std::string colour = chart::colour_class(line.colour);
    legend += "<li class='" + colour + "'><i></i><span>" + escaped(line.name) + "</span> <b>" +
              axes::rounded(line.points.back().y, 4) + "</b></li>";
    std::string numbers, heights;
    for (const auto& [step, value] : line.points) {
      const char* space = numbers.empty() ? "" : " ";
      numbers += space + std::to_string(std::llround(step));
      heights += space + axes::rounded(value, 4);
    }
    canvas.begin_group(colour);
    chart::draw_line(canvas, plane, line, " data-x='" + numbers + "' data-y='" + heights + "'");
    canvas.end_group();
  }
  return "<figure><h3>" + escaped(of.title) + "</h3><ul>" + legend + "</ul>" + std::move(canvas).finish() +
         "<small class='at'>last values</small></figure>\n";
}

}  // namespace attn
