#include "attn/text/treebank_line.hpp"

#include "support/files.hpp"

using attn::plain::TreebankLine;

TEST_CASE("treebank line: finds word ends") {
  const auto breaks = [](const char* rest) { return TreebankLine(std::string("x") + rest).break_at(1); };
  for (const char* rest :
       {"", " ", ")", "!", "\"", "`", ", y", ",", ":y", "--", "...", ".", ". Y", ".)", "''", "' ", "'n ", "'y z'", "”"}) {
    CAPTURE(rest);
    CHECK(breaks(rest));
  }
  for (const char* rest : {"y", "1", ",000", ":30", "-y", "..", ".y", "'s", "'yz", "ü", "–", "_", "/"}) {
    CAPTURE(rest);
    CHECK_FALSE(breaks(rest));
  }
}

TEST_CASE("treebank line: splits endings that are words") {
  CHECK(TreebankLine("John's").clitic_at(4));
  CHECK(TreebankLine("THEY'RE,").clitic_at(4));
  CHECK_FALSE(TreebankLine("they'Re").clitic_at(4));
  CHECK_FALSE(TreebankLine("d'sa").clitic_at(1));
  CHECK(TreebankLine("isn't.").negation_at(2));
  CHECK_FALSE(TreebankLine("isn'ty").negation_at(2));
}

TEST_CASE("treebank line: finds opening quotation marks") {
  CHECK(TreebankLine("\"").after_opening(0));
  CHECK(TreebankLine("a \"").after_opening(2));
  CHECK(TreebankLine("„\"").after_opening(3));
  CHECK_FALSE(TreebankLine("a\"").after_opening(1));
  CHECK(TreebankLine("a?\", b").starts_sentence(2));
  for (const char* line : {"a?\"", "a?\" b", "a?\")", "a?\"--", "ab\", c"}) {
    CAPTURE(line);
    CHECK_FALSE(TreebankLine(line).starts_sentence(2));
  }
  CHECK_FALSE(TreebankLine("a..\", b").starts_sentence(3));
}
