#pragma once
#include "attn/decode/search_options.hpp"
#include "attn/pictures/attention_picture.hpp"

namespace attn {

/// Draws a search tree as a stand-alone SVG: one column per step, tokens with their cumulative log-probability. Dropped
/// hypotheses are faint, complete ones framed, the chosen path colored. names(token) returns a label. Follows the reader's
/// light or dark theme.
template <class Names>
std::string draw_search_tree(const SearchTree& tree, const Names& names, std::string_view title) {
  using attention_picture::label_width;
  constexpr double row = 40, between = 46, top = 64, left = 16;
  struct Place {
    std::size_t column = 0;
    double y = 0;
    std::string word = {};
  };
  const auto& nodes = tree.nodes;
  std::vector<Place> places(nodes.size());
  std::vector<std::vector<std::size_t>> children(nodes.size());
  std::vector<double> widths;  // per column
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].parent >= 0) {
      children[static_cast<std::size_t>(nodes[i].parent)].push_back(i);
      places[i].column = places[static_cast<std::size_t>(nodes[i].parent)].column + 1;
    }
    places[i].word = attention_picture::label(names(nodes[i].token));
    widths.resize(std::max(widths.size(), places[i].column + 1), 44);
    widths[places[i].column] = std::max(widths[places[i].column], label_width(places[i].word) + 8);
  }
  double y = top;
  const auto arrange = [&](const auto& self, std::size_t i) -> void {  // leaves below each other, parents centered
    if (children[i].empty()) places[i].y = y, y += row;
    for (const std::size_t child : children[i]) self(self, child);
    if (!children[i].empty()) places[i].y = (places[children[i].front()].y + places[children[i].back()].y) / 2;
  };
  if (!nodes.empty()) arrange(arrange, 0);
  std::vector<double> x{left};
  for (const double width : widths) x.push_back(x.back() + width + between);
  const double width = std::max(x.back() - between + left, 10.5 * label_width(title) / 8 + 2 * left);

  Canvas canvas = Canvas::fixed(width, y, title);
  canvas.style(
      themed_style(".way{fill:none;stroke:#8a94a3;stroke-width:1.2}.score{font-size:11px;fill:#0f62b4}"
                   ".dropped{opacity:.4}.frame{fill:none;stroke:#3c434d}.best .way{stroke:#0f62b4;stroke-width:2.4}"
                   ".best .word{font-weight:600;fill:#0f62b4}",
                   ".way{stroke:#5d6774}.score{fill:#64b5f6}.frame{stroke:#b9c1cc}.best .way{stroke:#64b5f6}"
                   ".best .word{fill:#64b5f6}"));
  canvas.paper();
  canvas.text(left, 28, title, "class='title'");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    const Place& place = places[i];
    const double at = x[place.column], wide = widths[place.column], middle = at + wide / 2;
    canvas.begin_group(node.best ? "best" : node.fate == SearchTree::Fate::dropped ? "dropped" : "kept");
    if (node.parent >= 0) {
      const Place& from = places[static_cast<std::size_t>(node.parent)];
      const double begin = x[from.column] + widths[from.column], bend = (begin + at) / 2;
      const auto point = [](double px, double py) { return Canvas::number(px) + " " + Canvas::number(py) + " "; };
      canvas.shape("path", {},
                   "class='way' d='M" + point(begin, from.y) + "C" + point(bend, from.y) + point(bend, place.y) +
                       point(at, place.y) + "'");
      canvas.text(middle, place.y + 12, axes::label(node.log_probability, 0.01), "class='score' text-anchor='middle'");
    }
    if (node.fate == SearchTree::Fate::complete)
      canvas.shape("rect", {{"x", at}, {"y", place.y - 17}, {"width", wide}, {"height", 34}, {"rx", 4}}, "class='frame'");
    canvas.text(middle, place.y - 2, place.word, "class='word' text-anchor='middle'");
    canvas.end_group();
  }
  return std::move(canvas).finish();
}

}  // namespace attn
