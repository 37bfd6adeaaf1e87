#pragma once
#include <charconv>

#include "attn/pictures/chart.hpp"
#include "attn/pictures/drawing.hpp"
#include "attn/pictures/learning_curve.hpp"

// Plots and the layout of a report.

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

namespace attn::report_page {

inline constexpr const char* style =
    ":root{color-scheme:light dark;--text:#14181f;--quiet:#5b6571;--line:#e0e4ea;--paper:#fff;--warning:#8a4b00}"
    "@media(prefers-color-scheme:dark){:root{--text:#f0f3f7;--quiet:#9aa2ad;--line:#2c343f;--paper:#12161c;"
    "--warning:#ffb86b}}"
    "body{font:16px/1.5 system-ui,'Segoe UI',Helvetica,Arial,sans-serif;margin:0 auto;padding:1rem;max-width:80rem;"
    "color:var(--text);background:var(--paper)}"
    "h1{font-size:1.4rem;margin:0 0 .5rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .5rem}"
    "h3{font-size:.95rem;margin:0}small,dt,.quiet{color:var(--quiet)}"
    ".plots{display:grid;gap:1.5rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr))}"
    ".wide{overflow-x:auto}.columns{columns:24rem;column-gap:2rem}.columns "
    "table{width:100%}table{border-spacing:0;font-size:.9rem}"
    "th,td{text-align:left;vertical-align:top;padding:.2rem 1.2rem .2rem 0;border-bottom:1px solid var(--line);"
    "overflow-wrap:anywhere;min-width:6rem}"
    "tbody th{font-weight:400;color:var(--quiet)}td{font-variant-numeric:tabular-nums}"
    "dl{border-top:1px solid var(--line);margin:0;padding:.5rem 0}dt{font-size:.8rem}"
    "dd{margin:0 0 .3rem;overflow-wrap:anywhere}li{overflow-wrap:anywhere}summary{cursor:pointer;padding:.5rem 0}"
    ".warnings{color:var(--warning);padding-left:1.2rem}iframe{display:block;width:100%;border:0;margin-bottom:1rem}";

/// Shows the two words and the attention weight under the pointer, relative to the darkest cell.
inline constexpr const char* map_script = R"(
const svg = document.querySelector('svg'), field = svg.querySelector('.field'), said = document.querySelector('p');
const words = kind => [...svg.querySelectorAll(kind)].map(one => one.textContent);
const rows = words('text[text-anchor]'), columns = words('text[transform]');
const number = name => Number(field.getAttribute(name));
const show = event => {
  const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
  const j = Math.floor(((event.clientX - box.left) * scale - number('x')) / number('width') * columns.length);
  const i = Math.floor(((event.clientY - box.top) * scale - number('y')) / number('height') * rows.length);
  if (i < 0 || j < 0 || i >= rows.length || j >= columns.length) return;
  const cell = document.elementsFromPoint(event.clientX, event.clientY).find(one => one.tagName == 'path');
  said.textContent = `${rows[i]} looks at ${columns[j]}: ${cell ? cell.getAttribute('opacity') : 'nearly 0'} of the darkest`;
};
svg.addEventListener('pointermove', show);
svg.addEventListener('pointerdown', show);
)";

/// Frame height: the picture plus a line of text, limited to the screen height.
inline int frame_height(std::string_view map) {
  constexpr int most = 460, text = 30;
  constexpr std::string_view name = " height='";
  const std::string_view tag = map.substr(0, map.find('>'));
  double height = most;
  if (const auto at = tag.find(name); at != tag.npos)
    std::from_chars(tag.data() + at + name.size(), tag.data() + tag.size(), height);
  return height > 0 && height < most - text ? static_cast<int>(std::ceil(height)) + text : most;
}

/// An attention map in a sandboxed frame without access to the page or network.
inline std::string framed(std::string_view map) {
  const std::string inside =
      "<!DOCTYPE html><meta charset='utf-8'><style>:root{color-scheme:light dark}body{margin:0;font:14px/1.5 "
      "system-ui,sans-serif}svg{display:block;max-width:100%;height:auto;max-height:calc(100vh - 2em)}"
      "p{margin:0;min-height:1.5em}</style>" +
      std::string(map) + "<p></p><script>" + map_script + "</script>";
  std::string quoted;
  for (const char letter : inside) quoted += letter == '&' ? "&amp;" : letter == '\'' ? "&#39;" : std::string(1, letter);
  return "<iframe title='attention map' sandbox='allow-scripts' loading='lazy' height='" +
         std::to_string(frame_height(map)) + "' srcdoc='" + quoted + "'></iframe>\n";
}

inline std::string page(std::string_view title, const std::string& body) {
  return "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
         "<meta name='viewport' content='width=device-width, initial-scale=1'>"
         "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'; "
         "script-src 'unsafe-inline'\">\n<title>" +
         escaped(title) + "</title>\n<style>" + style + plot::style() + "</style></head>\n<body>\n<h1>" + escaped(title) +
         "</h1>\n" + body + "<script>" + plot::script + "</script>\n</body></html>\n";
}

}  // namespace attn::report_page
