#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "attn/decode/attention_maps.hpp"
#include "attn/pictures/axes.hpp"
#include "attn/pictures/canvas.hpp"

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
  for (std::size_t at = 0; at < word.size(); ++count) {
    const utf8::Decoded letter = utf8::decode(word, at);
    if (count == most) return text + "\u2026";
    utf8::append(text, letter.code);
    at += letter.length;
  }
  return text;
}

/// Approximate width of a label in pixels; scripts from Hangul on are wide.
inline double width_of(std::string_view label) {
  double width = 0;
  for (std::size_t at = 0; at < label.size();) {
    const utf8::Decoded letter = utf8::decode(label, at);
    width += letter.code >= 0x1100 && letter.code < 0xFF00 && (letter.code < 0x2000 || letter.code >= 0x2E80) ? 14 : 8;
    at += letter.length;
  }
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

inline const std::string& style() {
  static const std::string rules = themed_style(".cells{fill:#0f62b4}.field{fill:#f3f5f8}",  //
                                                ".cells{fill:#64b5f6}.field{fill:#1b212a}");
  return rules;
}

/// The head's number, and the weight of the darkest cell.
inline std::string caption(const AttentionMap& map, double most) {
  return (map.heads > 1 ? "head " + std::to_string(map.head + 1) + " of " + std::to_string(map.heads) + ", " : "") +
         "darkest " + axes::label(most, 0.01);
}

/// Draws the map as an <svg> element. Cells of the same level form one path and neighbors one rectangle, so that long
/// sentences stay small. Weights are relative to the map's maximum; those below 1/40 of it stay blank.
inline std::string draw(const AttentionMap& map, const MapWords& words, std::string_view title, bool styled) {
  constexpr int levels = 20;
  const auto rows = labels(map.of, map.rows, words.source, words.written);
  const auto columns = labels(map.at, map.cols, words.source, words.read);
  double beside = 0, above = 0;
  for (const std::string& word : rows) beside = std::max(beside, width_of(word));
  for (const std::string& word : columns) above = std::max(above, width_of(word));
  const double most = map.weights.empty() ? 0 : *std::max_element(map.weights.begin(), map.weights.end());
  const std::string small = caption(map, most);
  const double left = 12 + beside + gap, top = (title.empty() ? 34 : 58) + above + gap;
  const double field_width = cell * static_cast<double>(map.cols), field_height = cell * static_cast<double>(map.rows);
  const double width = std::max({left + field_width + 12, width_of(small) + 24, 10.5 * width_of(title) / 8 + 24});

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

}  // namespace attention_picture

/// Draws a map as a stand-alone SVG: rows are queries, columns are keys, darker cells have larger weights. Follows the
/// reader's light or dark theme.
inline std::string draw_attention_map(const AttentionMap& map, const MapWords& words, std::string_view title) {
  return attention_picture::draw(map, words, title, true);
}

}  // namespace attn
