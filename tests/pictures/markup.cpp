#include "attn/pictures/drawing.hpp"

#include <doctest/doctest.h>

using namespace attn;

TEST_CASE("markup: escapes special characters") {
  CHECK(escaped("a < b > c & 'd' \"e\"") == "a &lt; b &gt; c &amp; &#39;d&#39; &quot;e&quot;");
  CHECK(escaped("Gr\u00fc\u00dfe \u4f60\u597d \U0001F600") == "Gr\u00fc\u00dfe \u4f60\u597d \U0001F600");
}

TEST_CASE("markup: drops characters XML forbids and replaces invalid UTF-8") {
  CHECK(escaped(std::string("a\0\x1b\tb", 5)) == "ab");
  CHECK(escaped("a\uffff\ufffe"
                "b") == "ab");
  CHECK(escaped("sch\xf6n") == "sch\ufffdn");
}

TEST_CASE("markup: dark rules apply in the dark theme") {
  const std::string style = themed_style(".a{fill:red}", ".a{fill:blue}");
  CHECK(style.find(".a{fill:red}") < style.find("prefers-color-scheme:dark"));
  CHECK(style.find(".a{fill:blue}") > style.find("prefers-color-scheme:dark"));
}
