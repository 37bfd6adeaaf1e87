#include "attn/pictures/attention_picture.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

using namespace attn;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

const MapWords words{{"a<b", "\"&'", "</s>"}, {"<s>", "caf\u00e9"}, {"caf\u00e9", "</s>"}};

AttentionMap cross(int head = 0, int heads = 1) {
  return {"decoder.cross", head, heads, Side::target, Side::source, 2, 3, {0.5f, 0.25f, 0.01f, 0, 0, 0.5f}};
}

}  // namespace

TEST_CASE("attention picture: shows words and a cell for each visible weight") {
  const std::string svg = draw_attention_map(cross(), words, "Title & more");
  CHECK(contains(svg, ">Title &amp; more</text>"));
  for (const auto* word : {">a&lt;b<", ">&quot;&amp;&#39;<", ">&lt;/s&gt;<", ">caf\u00e9<"}) CHECK(contains(svg, word));
  CHECK(!contains(svg, ">&lt;s&gt;<"));  // rows are what is written
  CHECK(contains(svg, "darkest 0.50"));
  CHECK(count(svg, "h18v18h-18z") == 3);  // 0.01 is too light
  CHECK(count(svg, "<path") == 2);
  CHECK(contains(svg, "opacity='0.5'"));
  CHECK(contains(svg, "opacity='1'"));
  CHECK(contains(svg, "prefers-color-scheme:dark"));
  CHECK(count(svg, "http") == 1);  // the namespace: nothing is fetched
}

TEST_CASE("attention picture: adjacent cells of equal weight are one shape") {
  const AttentionMap even{"e", 0, 1, Side::target, Side::source, 40, 50, std::vector<float>(2000, 0.02f)};
  const std::string svg = draw_attention_map(even, {}, "t");
  CHECK(count(svg, "h900v18h-900z") == 40);
  CHECK(svg.size() < 20'000);
}

TEST_CASE("attention picture: draws causal maps and mixtures and unknown words") {
  const AttentionMap past{"past", 0, 1, Side::target, Side::target, 2, 2, {0, 0, 1, 0}};
  const std::string svg = draw_attention_map(past, words, "t");
  CHECK(count(svg, ">&lt;s&gt;<") == 1);   // a column: what was read
  CHECK(count(svg, ">&lt;/s&gt;<") == 1);  // a row: what is written
  CHECK(count(svg, "z") - count(svg, "size") == 1);
  const AttentionMap mixtures{"m", 0, 1, Side::source, Side::mixtures, 4, 2, std::vector<float>(8, 0.5f)};
  const std::string numbered = draw_attention_map(mixtures, words, "t");
  CHECK(contains(numbered, ">2</text>"));
  CHECK(contains(numbered, ">4</text>"));  // the fourth row has no word
}

TEST_CASE("attention picture: truncates long words and accepts empty maps") {
  MapWords long_words = words;
  long_words.source[0] = std::string(40, 'x');
  const std::string svg = draw_attention_map(cross(), long_words, "t");
  CHECK(contains(svg, ">" + std::string(22, 'x') + "\u2026<"));
  CHECK(!contains(svg, std::string(23, 'x')));
  const AttentionMap nothing{"n", 0, 1, Side::target, Side::target, 1, 0, {}};
  CHECK(count(draw_attention_map(nothing, words, "t"), "<path") == 0);
}

TEST_CASE("attention picture: a page shows all layers with cross-attention expanded") {
  AttentionMap own{"decoder.own <1>", 0, 1, Side::target, Side::target, 2, 2, {1, 0, 0.5f, 0.5f}};
  const std::vector<AttentionMap> maps{own, cross(0, 2), cross(1, 2)};
  const std::string page = draw_attention_page("a<b", "caf\u00e9 & co", maps, words);
  CHECK(count(page, "<details") == 2);
  CHECK(count(page, "<details open='open'") == 1);
  CHECK(count(page, "</details>") == 2);
  CHECK(count(page, "<svg") == 3);
  CHECK(count(page, "<style") == 1);
  CHECK(contains(page, "head 2 of 2"));
  CHECK(contains(page, "<dd>caf\u00e9 &amp; co</dd>"));
  CHECK(contains(page, "decoder.own &lt;1&gt;"));
  CHECK(contains(page, "width=device-width"));
  CHECK(count(page, "http") == 4);  // namespaces: nothing is fetched
  CHECK(contains(draw_attention_page("", "", {}, {}), "no attention"));
}
