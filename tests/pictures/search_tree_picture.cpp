#include "attn/pictures/search_tree_picture.hpp"

#include <doctest/doctest.h>

#include <map>

#include "support/errors.hpp"

using namespace attn;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("search tree picture: shows a word and a score for each hypothesis and its successors") {
  using Fate = SearchTree::Fate;
  const SearchTree tree{{{-1, 2, 0, Fate::live},
                         {0, 4, -0.7, Fate::live, true},
                         {0, 5, -0.912, Fate::live},
                         {1, 3, -1.5, Fate::complete, true},
                         {1, 6, -3, Fate::dropped},
                         {2, 4, -2, Fate::limit}}};
  const std::map<Token, std::string> names{{2, "<s>"}, {3, "</s>"}, {4, "he"}, {5, "I"}, {6, "a&b"}};
  const std::string svg = draw_search_tree(
      tree, [&](Token token) { return names.at(token); }, "k = 2 <b>");
  CHECK(count(svg, "class='word'") == 6);
  CHECK(count(svg, "class='score'") == 5);
  CHECK(count(svg, "class='way'") == 5);
  CHECK(count(svg, "class='frame'") == 1);
  CHECK(count(svg, "<g class='best'>") == 2);
  CHECK(count(svg, "<g class='dropped'>") == 1);
  for (const char* part : {"&lt;/s&gt;", "a&amp;b", ">-0.91<", ">-0.70<", "k = 2 &lt;b&gt;"}) CHECK(contains(svg, part));
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("search tree picture: accepts a root alone and an empty tree") {
  const auto name = [](Token) { return "x"; };
  CHECK(count(draw_search_tree({{{-1, 0, 0, SearchTree::Fate::live}}}, name, "t"), "class='word'") == 1);
  CHECK(count(draw_search_tree({}, name, "t"), "class='word'") == 0);
}
