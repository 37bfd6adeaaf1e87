#include "attn/text/word_vocabulary.hpp"

#include "support/files.hpp"

using namespace attn;

TEST_CASE("word counts: tokens and types and words seen once") {
  WordCounts counts;
  CHECK(counts.tokens() == 0);
  CHECK(counts.types() == 0);
  CHECK(counts.by_frequency().empty());
  for (const char* line : {"the cat saw the dog", "", "  ", "a dog\tbarked\u00A0."}) counts.add(line);
  CHECK(counts.tokens() == 9);
  CHECK(counts.types() == 7);
  CHECK(counts.seen_once() == 5);
  CHECK(counts.count("the") == 2);
  CHECK(counts.count("bird") == 0);
}

TEST_CASE("word counts: count several lines and the words outside a vocabulary") {
  const WordCounts counts(std::vector<std::string>{"a a a", "b b c", ""});
  CHECK(counts.tokens() == 6);
  CHECK(counts.tokens_seen_less_than(1) == 0);
  CHECK(counts.tokens_seen_less_than(2) == 1);
  CHECK(counts.tokens_seen_less_than(3) == 3);
  CHECK(counts.tokens_seen_less_than(4) == 6);
}

TEST_CASE("word counts: the most frequent words come first and ties are in byte order") {
  WordCounts counts;
  counts.add("b a c a \u00E4 z b a");
  const std::vector<std::pair<std::string, Index>> expected{{"a", 3}, {"b", 2}, {"c", 1}, {"z", 1}, {"\u00E4", 1}};
  CHECK(counts.by_frequency() == expected);
}

TEST_CASE("word counts: invalid UTF-8 is rejected and not counted") {
  WordCounts counts;
  CHECK(contains(error_of([&] { counts.add("good bad\xC3"); }), "byte 8 of the text"));
  CHECK(counts.tokens() == 0);
}
