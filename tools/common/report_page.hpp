#pragma once
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "attn/pictures/drawing.hpp"
#include "common/plot.hpp"

// Layout of a report.

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
