#include "common/print_translation.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

using namespace attn;

TEST_CASE("translation report: fields of a line") {
  CHECK(format_score(-0.5) == "-0.5");
  CHECK(format_score(-12.3456789) == "-12.3457");
  CHECK(format_links(std::vector<WordLink>{{0, 0}, {2, 1}}) == "0-0 2-1");
  CHECK(format_links({}).empty());
  CHECK(join_fields(std::vector<std::string>{"0", "a b", "-1"}) == "0 ||| a b ||| -1");
  CHECK(join_fields(std::vector<std::string>{"a"}) == "a");
}

TEST_CASE("translation report: counts unfinished translations and repetitions among them") {
  UnfinishedTranslations unfinished;
  const auto add = [&](Index line, std::vector<Token> tokens, bool complete) {
    Translation translation{{1}, tokens, "", {}};
    translation.n_best.push_back({{.tokens = tokens, .complete = complete}, ""});
    unfinished.add(line, translation);
  };
  add(1, {5, 5, 5, 5, 5}, true);
  unfinished.add(2, {});
  CHECK(unfinished.count() == 0);
  CHECK(unfinished.to_string(5).empty());
  add(3, {5, 5, 5, 5, 5}, false);
  CHECK(unfinished.to_string(5) ==
        "1 translation did not end within the limit of 5 tokens, because it repeats itself: line 3");
  CHECK(contains(unfinished.to_string(1), "within the limit of 1 token,"));
  add(4, {1, 2, 3, 4, 5}, false);
  CHECK(unfinished.to_string(5) ==
        "2 translations did not end within the limit of 5 tokens, 1 of them because they repeat themselves: lines 3, 4");
  for (Index line = 5; line < 9; ++line) add(line, {1, 2, 3, 4, 5}, false);
  CHECK(unfinished.count() == 6);
  CHECK(unfinished.repeating() == 1);
  CHECK(unfinished.to_string(5).ends_with(": the first are of lines 3, 4, 5, 6, 7"));
}
