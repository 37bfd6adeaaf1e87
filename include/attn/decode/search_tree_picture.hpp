#pragma once
#include <algorithm>
#include <cstdio>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/markup.hpp"
#include "attn/decode/attention_picture.hpp"
#include "attn/decode/search_tree.hpp"

namespace attn {

/// A tree of hypotheses as an SVG picture that stands alone: a column for each step, words with the log-probability of all up
/// to them; those that were dropped are faint, complete ones framed, the way to the chosen one in colour. names(token) gives
/// a word. Follows the reader's light or dark theme.
template <class Names>
std::string draw_search_tree(const SearchTree& tree, const Names& names, std::string_view title) {
  using attention_picture::width_of;
  constexpr double row = 40, between = 46, top = 64, left = 16;
  struct Place {
    std::size_t column = 0;
    double y = 0;
    std::string word = {};
  };
  const auto& nodes = tree.nodes;
  std::vector<Place> places(nodes.size());
  std::vector<std::vector<std::size_t>> children(nodes.size());
  std::vector<double> widths;  // of columns
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].parent >= 0) {
      children[static_cast<std::size_t>(nodes[i].parent)].push_back(i);
      places[i].column = places[static_cast<std::size_t>(nodes[i].parent)].column + 1;
    }
    places[i].word = attention_picture::label(names(nodes[i].token));
    widths.resize(std::max(widths.size(), places[i].column + 1), 44);
    widths[places[i].column] = std::max(widths[places[i].column], width_of(places[i].word) + 8);
  }
  double y = top;
  const auto arrange = [&](const auto& self, std::size_t i) -> void {  // leaves one below the other, parents midway
    if (children[i].empty()) places[i].y = y, y += row;
    for (const std::size_t child : children[i]) self(self, child);
    if (!children[i].empty()) places[i].y = (places[children[i].front()].y + places[children[i].back()].y) / 2;
  };
  if (!nodes.empty()) arrange(arrange, 0);
  std::vector<double> x{left};
  for (const double width : widths) x.push_back(x.back() + width + between);
  const double width = std::max(x.back() - between + left, 10.5 * width_of(title) / 8 + 2 * left);

  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << y << "' viewBox='0 0 " << width
      << ' ' << y << "' role='img'><style>"
      << themed_style(
             ".way{fill:none;stroke:#8a94a3;stroke-width:1.2}.score{font-size:11px;fill:#0f62b4}"
             ".dropped{opacity:.4}.frame{fill:none;stroke:#3c434d}.best .way{stroke:#0f62b4;stroke-width:2.4}"
             ".best .word{font-weight:600;fill:#0f62b4}",
             ".way{stroke:#5d6774}.score{fill:#64b5f6}.frame{stroke:#b9c1cc}.best .way{stroke:#64b5f6}"
             ".best .word{fill:#64b5f6}")
      << "</style><title>" << escaped(title) << "</title><rect class='paper' width='" << width << "' height='" << y
      << "' rx='8'/>\n<text class='title' x='" << left << "' y='28'>" << escaped(title) << "</text>\n";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    const Place& place = places[i];
    const double at = x[place.column], wide = widths[place.column];
    const bool dropped = node.fate == SearchTree::Fate::dropped;
    out << "<g class='" << (node.best ? "best" : dropped ? "dropped" : "kept") << "'>";
    if (node.parent >= 0) {
      const Place& from = places[static_cast<std::size_t>(node.parent)];
      const double begin = x[from.column] + widths[from.column], end = at, bend = (begin + end) / 2;
      out << "<path class='way' d='M" << begin << ' ' << from.y << "C" << bend << ' ' << from.y << ' ' << bend << ' '
          << place.y << ' ' << end << ' ' << place.y << "'/>";
    }
    if (node.fate == SearchTree::Fate::complete)
      out << "<rect class='frame' x='" << at << "' y='" << place.y - 17 << "' width='" << wide << "' height='34' rx='4'/>";
    const double middle = at + wide / 2;
    out << "<text class='word' text-anchor='middle' x='" << middle << "' y='" << place.y - 2 << "'>" << escaped(place.word)
        << "</text>";
    if (node.parent >= 0) {
      char score[32];
      std::snprintf(score, sizeof score, "%.2f", node.log_probability);
      out << "<text class='score' text-anchor='middle' x='" << middle << "' y='" << place.y + 12 << "'>" << score
          << "</text>";
    }
    out << "</g>\n";
  }
  out << "</svg>\n";
  return out.str();
}

}  // namespace attn
