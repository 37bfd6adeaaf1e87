#include "attn/pictures/learning_curve.hpp"
#include "attn/pictures/chart.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace attn;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Every tag that opens is closed in order, and nothing but tags and text stands between: what a browser asks of an SVG
/// file.
bool well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at)) {
    const std::size_t end = svg.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = svg.substr(at + 1, end - at - 1), name = tag.substr(0, tag.find_first_of(" \n"));
    at = end;
    if (tag.ends_with('/')) continue;
    if (!tag.starts_with('/')) {
      open.push_back(name);
    } else {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    }
  }
  return open.empty() && svg.starts_with("<svg ");
}

}  // namespace

TEST_CASE("learning curve: shows series and axes and the lowest value") {
  const std::vector<Series> series{{"training", {{0, 4}, {500, 2}, {1000, 1}}}, {"validation", {{500, 2.5}, {1000, 1.5}}}};
  const std::string svg = draw_learning_curve("English to German", series);
  CHECK(well_formed(svg));
  CHECK(has(svg, ">English to German</text>"));
  CHECK(has(svg, ">training, lowest 1.000 (perplexity 2.72)</text>"));
  CHECK(has(svg, ">validation, lowest 1.500 (perplexity 4.48)</text>"));
  for (const char* tick : {">0<", ">200<", ">400<", ">600<", ">800<", ">1,000<"}) CHECK_MESSAGE(has(svg, tick), tick);
  for (const char* tick : {">1<", ">2<", ">3<", ">4<"}) CHECK_MESSAGE(has(svg, tick), tick);
  for (const char* tick : {">2.72<", ">7.39<", ">20.1<", ">54.6<"}) CHECK_MESSAGE(has(svg, tick), tick);
  CHECK(has(svg, "prefers-color-scheme:dark"));
  CHECK(count(svg, "http") == 1);  // the name space: nothing is fetched
  // The plot spans x 64 to 728 and, under a legend of two lines, y 142 to 466.
  CHECK(has(svg, "points='64,142 396,358 728,466'"));
  CHECK(has(svg, "points='396,304 728,412'"));
  CHECK(count(svg, "<circle") == 5);
}

TEST_CASE("learning curve: accepts any series") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const std::vector<Series>& series : std::vector<std::vector<Series>>{
           {},
           {{"none", {}}},
           {{"one point", {{7, 1.5}}}},
           {{"flat", {{1, 2}, {2, 2}}}},
           {{"zero", {{0, 0}, {0, 0}}}},
           {{"not numbers", {{1, nan}, {2, infinity}, {nan, 3}}}},
           {{"some numbers", {{1, 5}, {2, nan}, {3, 4}}}},
           {{"negative", {{1, -1}, {2, -3}}}},
           {{"huge", {{1, 1e5}, {1e12, 10}}}},
           {{"tiny", {{1, 1e-9}, {2, 2e-9}}}},
       }) {
    const std::string svg = draw_learning_curve("title", series);
    CAPTURE(svg);
    CHECK(well_formed(svg));
    CHECK_FALSE(has(svg, "'nan"));
    CHECK_FALSE(has(svg, "'inf"));
    CHECK_FALSE(has(svg, ">nan"));
    CHECK(count(svg, "class='axis'") >= 2);
    CHECK(svg.size() < 10'000);
  }
  CHECK(has(draw_learning_curve("", {}), "nothing to draw yet"));
  CHECK(count(draw_learning_curve("", std::vector<Series>{{"gap", {{1, 5}, {2, nan}, {3, 4}}}}), "<circle") == 2);
}

TEST_CASE("learning curve: escapes XML") {
  const std::vector<Series> series{{"a < b & c > d", {{1, 2}}}};
  const std::string svg = draw_learning_curve("</text><script>&\n", series);
  CHECK(well_formed(svg));
  CHECK_FALSE(has(svg, "<script"));
  CHECK(has(svg, ">&lt;/text&gt;&lt;script&gt;&amp;</text>"));
  CHECK(has(svg, ">a &lt; b &amp; c &gt; d, lowest 2.000"));
}

TEST_CASE("learning curve: a curve of many steps stays a small file") {
  Series training{"training", {}};
  for (int i = 1; i <= 200'000; ++i) training.points.push_back({static_cast<double>(i), 1 + 9.0 / i});
  const std::string svg = draw_learning_curve("", {&training, 1});
  CHECK(svg.size() < 20'000);
  CHECK(has(svg, ">200,000<"));
  CHECK(count(svg, "<circle") == 0);

  const auto means = chart::thinned({{1, 2}, {2, 4}, {3, 6}, {4, 8}, {5, 10}}, 3);
  REQUIRE(means.size() == 3);
  CHECK(means[0].x == 1);
  CHECK(means[0].y == 3);
  CHECK(means[1].x == 3.5);
  CHECK(means[1].y == 7);
  CHECK(means[2].x == 5);
  CHECK(means[2].y == 10);
}

TEST_CASE("learning curve: the minimum of a noisy curve is the lowest moving average") {
  using learning_curve::lowest;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(lowest({"none", {}}));
  CHECK_FALSE(lowest({"no number", {{1, nan}}, true}));
  CHECK(lowest({"exact", {{1, 5}, {2, 1}, {3, nan}, {4, 6}}}) == 1);
  CHECK(lowest({"few", {{1, 5}, {2, 1}, {3, nan}, {4, 6}}, true}) == 4);
  CHECK(lowest({"noisy", {{1, 9}, {2, 1}, {3, 5}, {4, 5}, {5, 5}, {6, 4}, {7, 6}}, true}) == 4);  // of points 2 to 6
  Series falling{"falling", {}, true};
  for (int i = 0; i < 200; ++i) falling.points.push_back({static_cast<double>(i), 200.0 - i});
  CHECK(lowest(falling) == 5.5);  // the mean of 1 to 10
}

TEST_CASE("ticks: are round numbers around the values") {
  const auto check = [](double low, double high, double first, double last, double every) {
    const axes::Ticks ticks = axes::ticks_around(low, high, 5);
    CHECK(ticks.first == doctest::Approx(first));
    CHECK(ticks.last == doctest::Approx(last));
    CHECK(ticks.every == doctest::Approx(every));
  };
  check(0, 10, 0, 10, 2);
  check(0.3, 8.7, 0, 10, 2);
  check(1.2297, 1.2345, 1.229, 1.235, 0.001);
  check(0, 45, 0, 50, 10);
  check(0, 11, 0, 15, 5);
  check(-3, -1, -3, -1, 0.5);
  CHECK(axes::ticks_around(0, 2, 6, 1).every == 1);
}

TEST_CASE("labels: have as many digits as needed") {
  using axes::label, axes::rounded;
  CHECK(label(2000, 1000) == "2,000");
  CHECK(label(1'234'567, 1) == "1,234,567");
  CHECK(label(-1500, 500) == "-1,500");
  CHECK(label(0.30000000000000004, 0.1) == "0.3");
  CHECK(label(1.23, 0.005) == "1.230");
  CHECK(label(-1e-17, 0.1) == "0.0");
  CHECK(label(2e7, 1e7) == "2e+07");
  CHECK(rounded(2.718281828, 3) == "2.72");
  CHECK(rounded(54.598, 3) == "54.6");
  CHECK(rounded(22'026.47, 3) == "22,026");
  CHECK(rounded(3.4352, 3, 0.007) == "3.435");
  CHECK(rounded(std::exp(1000), 3) == "inf");
}
