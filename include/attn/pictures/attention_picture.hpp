#pragma once
#include "attn/decode/attention_maps.hpp"
#include "attn/pictures/drawing.hpp"

namespace attn {

/// Token labels for the maps of a sentence pair. The decoder's input and output are shifted by one token.
struct MapWords {
  std::vector<std::string> source;   // x1 .. xn, end token
  std::vector<std::string> read;     // begin token, y1 .. ym
  std::vector<std::string> written;  // y1 .. ym, end token
};

namespace attention_picture {

inline constexpr double cell = 18, gap = 8;

/// A token's label; long ones are truncated.
inline std::string label(std::string_view word) {
  constexpr int most = 22;
  std::string text;
  int count = 0;
  for (const utf8::Character& letter : utf8::Characters(word)) {
    if (count++ == most) return text + "\u2026";
    utf8::append(text, letter.code);
  }
  return text;
}

/// Approximate width of a label in pixels; scripts from Hangul on are wide.
inline double label_width(std::string_view label) {
  double width = 0;
  for (const utf8::Character& letter : utf8::Characters(label))
    width += letter.code >= 0x1100 && letter.code < 0xFF00 && (letter.code < 0x2000 || letter.code >= 0x2E80) ? 14 : 8;
  return width;
}

/// Labels of one side of a map; numbers if its tokens are unknown or it has mixtures.
inline std::vector<std::string> labels(Side side, Index count, const std::vector<std::string>& source,
                                       const std::vector<std::string>& target) {
  std::vector<std::string> all;
  const auto& words = side == Side::source ? source : target;
  for (Index i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    all.push_back(side != Side::mixtures && at < words.size() ? label(words[at]) : std::to_string(i + 1));
  }
  return all;
}

inline std::string style() {
  return themed_style(".cells{fill:#0f62b4}.field{fill:#f3f5f8}", ".cells{fill:#64b5f6}.field{fill:#1b212a}");
}

}  // namespace attention_picture

/// Draws a map as a stand-alone SVG: rows are queries, columns are keys, darker cells have larger weights. Follows the
/// reader's light or dark theme, unless a page has the style. Cells of the same level form one path and neighbors one
/// rectangle, so that long sentences stay small. Weights are relative to the map's maximum; those below 1/40 of it stay blank.
inline std::string draw_attention_map(const AttentionMap& map, const MapWords& words, std::string_view title,
                                      bool styled = true) {
  using namespace attention_picture;
  constexpr int levels = 20;
  const auto rows = labels(map.of, map.rows, words.source, words.written);
  const auto columns = labels(map.at, map.cols, words.source, words.read);
  double beside = 0, above = 0;
  for (const std::string& word : rows) beside = std::max(beside, label_width(word));
  for (const std::string& word : columns) above = std::max(above, label_width(word));
  const double most = map.weights.empty() ? 0 : *std::max_element(map.weights.begin(), map.weights.end());
  const std::string head = "head " + std::to_string(map.head + 1) + " of " + std::to_string(map.heads) + ", ";
  const std::string small = (map.heads > 1 ? head : "") + "darkest " + axes::label(most, 0.01);
  const double left = 12 + beside + gap, top = (title.empty() ? 34 : 58) + above + gap;
  const double field_width = cell * static_cast<double>(map.cols), field_height = cell * static_cast<double>(map.rows);
  const double width = std::max({left + field_width + 12, label_width(small) + 24, 10.5 * label_width(title) / 8 + 24});

  Canvas canvas =
      Canvas::fixed(width, top + field_height + 12, title.empty() ? map.layer + ", " + small : std::string(title));
  if (styled) canvas.style(style());
  canvas.paper();
  if (!title.empty()) canvas.text(12, 28, title, "class='title'");
  canvas.text(12, title.empty() ? 22 : 50, small);
  canvas.shape("rect", {{"x", left}, {"y", top}, {"width", field_width}, {"height", field_height}}, "class='field'");
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const std::string x = Canvas::number(left + cell * (static_cast<double>(j) + 0.5) + 4.5);
    canvas.text(0, 0, columns[j], "transform='translate(" + x + " " + Canvas::number(top - gap) + ")rotate(-90)'");
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    canvas.text(left - gap, top + cell * (static_cast<double>(i) + 0.5) + 4.5, rows[i], "text-anchor='end'");
  std::vector<std::string> cells(levels + 1);
  const auto level = [&](Index i, Index j) { return static_cast<std::size_t>(std::lround(levels * map(i, j) / most)); };
  for (Index i = 0; i < map.rows && most > 0; ++i)
    for (Index j = 0, next = 0; j < map.cols; j = next) {  // merge neighbors of one level
      while (next < map.cols && level(i, next) == level(i, j)) ++next;
      const auto pixel = [](double start, Index at) { return Canvas::number(start + cell * static_cast<double>(at)); };
      const std::string wide = pixel(0, next - j);
      cells[level(i, j)] += "M" + pixel(left, j) + " " + pixel(top, i) + "h" + wide + "v" + pixel(0, 1) + "h-" + wide + "z";
    }
  canvas.begin_group("cells");
  for (std::size_t i = 1; i < cells.size(); ++i)
    if (!cells[i].empty())
      canvas.shape("path", {},
                   "opacity='" + axes::significant(static_cast<double>(i) / levels, 2) + "' d='" + cells[i] + "'");
  canvas.end_group();
  return std::move(canvas).finish();
}

/// Draws all maps of a sentence pair as a self-contained HTML page, which is also valid XML. Each layer is a section with
/// its heads side by side; cross-attention is open, other layers are folded. Adapts to screen size and light or dark theme.
inline std::string draw_attention_page(std::string_view source, std::string_view translation,
                                       std::span<const AttentionMap> maps, const MapWords& words) {
  const auto name = [](Side side) {
    return side == Side::source ? "source" : side == Side::target ? "translation" : "mixtures of positions";
  };
  std::ostringstream out;
  out << "<!DOCTYPE html>\n<html xmlns='http://www.w3.org/1999/xhtml'>\n<head><meta charset='utf-8'/>"
         "<meta name='viewport' content='width=device-width, initial-scale=1'/><title>"
      << escaped(translation)
      << "</title>\n<style>:root{color-scheme:light dark}"
         "body{font:16px/1.5 system-ui,'Segoe UI',Helvetica,Arial,sans-serif;margin:0 auto;padding:1em;max-width:90em;"
         "color:#14181f;background:#f7f8fa}"
         "dt{font-size:.85em;color:#5b6571}dd{margin:0 0 .6em;overflow-wrap:anywhere}"
         "summary{cursor:pointer;padding:.5em 0;font-weight:600}summary span{font-weight:400;color:#5b6571}"
         ".maps{display:flex;flex-wrap:wrap;gap:1em}.maps>div{overflow-x:auto;max-width:100%}"
         "svg{display:block}"
         "@media(prefers-color-scheme:dark){body{color:#f0f3f7;background:#0b0e12}dt,summary span{color:#9aa2ad}}"
      << attention_picture::style() << "</style></head>\n<body>\n<dl><dt>source</dt><dd>" << escaped(source)
      << "</dd><dt>translation</dt><dd>" << escaped(translation) << "</dd></dl>\n";
  if (maps.empty()) out << "<p>This model has no attention.</p>\n";
  for (const AttentionMap& map : maps) {
    if (map.head == 0)
      out << "<details" << (map.translates() ? " open='open'" : "") << "><summary>" << escaped(map.layer) << " <span>"
          << name(map.of) << " attends to " << name(map.at) << "</span></summary><div class='maps'>\n";
    out << "<div>" << draw_attention_map(map, words, "", false) << "</div>\n";
    if (map.head == map.heads - 1) out << "</div></details>\n";
  }
  out << "</body>\n</html>\n";
  return out.str();
}

}  // namespace attn
