#pragma once
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <locale>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/file.hpp"
#include "attn/core/markup.hpp"
#include "attn/decode/attention_map.hpp"

namespace attn {

/// The words that maps of a sentence pair name. What the decoder reads and what it writes are one word apart.
struct MapWords {
  std::vector<std::string> source;   // x1 .. xn, end token
  std::vector<std::string> read;     // begin token, y1 .. ym
  std::vector<std::string> written;  // y1 .. ym, end token
};

namespace attention_picture {

inline constexpr double cell = 18, gap = 8;

/// A word as a label: long ones are cut.
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

/// About as many pixels as a label takes: letters of scripts from Hangul on are as wide as they are high.
inline double width_of(std::string_view label) {
  double width = 0;
  for (std::size_t at = 0; at < label.size();) {
    const utf8::Decoded letter = utf8::decode(label, at);
    width += letter.code >= 0x1100 && letter.code < 0xFF00 && (letter.code < 0x2000 || letter.code >= 0x2E80) ? 14 : 8;
    at += letter.length;
  }
  return width;
}

/// The labels of one side of a map; numbers where its words are not known, or not words.
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

/// Which head of which layer, and how dark the darkest cell is.
inline std::string caption(const AttentionMap& map, double most) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  if (map.heads > 1) text << "head " << map.head + 1 << " of " << map.heads << ", ";
  text << "darkest " << std::fixed << std::setprecision(2) << most;
  return text.str();
}

/// The map as an <svg> element. Cells of nearly the same weight are one path and neighbours among them one shape, so that the many maps of a long sentence stay
/// light; weights are relative to the largest of the map, and what is below a fortieth of that stays paper.
inline void draw(std::ostream& to, const AttentionMap& map, const MapWords& words, std::string_view title,
                 std::string_view attributes, std::string_view head) {
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
  const double height = top + field_height + 12;

  std::ostringstream out;
  out.imbue(std::locale::classic());
  const auto text = [&](double x, double y, std::string_view more, std::string_view what) {
    out << "<text x='" << x << "' y='" << y << "'" << more << ">" << escaped(what) << "</text>";
  };
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << height << "' viewBox='0 0 " << width
      << ' ' << height << "' role='img'" << attributes << ">" << head << "<title>"
      << escaped(title.empty() ? map.layer + ", " + small : std::string(title)) << "</title><rect class='paper' width='"
      << width << "' height='" << height << "' rx='8'/>\n";
  if (!title.empty()) text(12, 28, " class='title'", title);
  text(12, title.empty() ? 22 : 50, "", small);
  out << "<rect class='field' x='" << left << "' y='" << top << "' width='" << field_width << "' height='" << field_height
      << "'/>\n";
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const double x = left + cell * (static_cast<double>(j) + 0.5) + 4.5;
    out << "<text transform='translate(" << x << ' ' << top - gap << ")rotate(-90)'>" << escaped(columns[j]) << "</text>";
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    text(left - gap, top + cell * (static_cast<double>(i) + 0.5) + 4.5, " text-anchor='end'", rows[i]);
  std::vector<std::string> cells(levels + 1);
  const auto level = [&](Index i, Index j) { return static_cast<std::size_t>(std::lround(levels * map(i, j) / most)); };
  for (Index i = 0; i < map.rows && most > 0; ++i)
    for (Index j = 0, next = 0; j < map.cols; j = next) {  // neighbours of one level are one rectangle
      while (next < map.cols && level(i, next) == level(i, j)) ++next;
      std::ostringstream path;
      path.imbue(std::locale::classic());
      const double wide = cell * static_cast<double>(next - j);
      path << 'M' << left + cell * static_cast<double>(j) << ' ' << top + cell * static_cast<double>(i) << 'h' << wide
           << 'v' << cell << 'h' << -wide << 'z';
      cells[level(i, j)] += path.str();
    }
  out << "\n<g class='cells'>";
  for (std::size_t i = 1; i < cells.size(); ++i)
    if (!cells[i].empty()) out << "\n<path opacity='" << static_cast<double>(i) / levels << "' d='" << cells[i] << "'/>";
  out << "</g></svg>\n";
  to << out.str();
}

}  // namespace attention_picture

/// A map as an SVG picture that stands alone: rows are the words that look, columns those they look at; the darker a cell,
/// the larger its weight. Follows the reader's light or dark theme.
inline std::string draw_attention_map(const AttentionMap& map, const MapWords& words, std::string_view title) {
  std::ostringstream out;
  attention_picture::draw(out, map, words, title, "", "<style>" + attention_picture::style() + "</style>");
  return out.str();
}

/// Writes that picture to a file, which is replaced if it exists.
inline void write_attention_map(const std::filesystem::path& path, const AttentionMap& map, const MapWords& words,
                                std::string_view title) {
  write_file(path, draw_attention_map(map, words, title));
}

}  // namespace attn
