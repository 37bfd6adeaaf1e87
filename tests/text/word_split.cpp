#include "attn/text/word_split.hpp"

#include <vector>

#include "support/files.hpp"

using namespace attn;
using Words = std::vector<std::string>;

namespace {

Words words_of(std::string_view text) {
  Words words;
  for_each_word(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

Words spaced_words_of(std::string_view text) {
  Words words;
  for_each_spaced_word(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

}  // namespace

TEST_CASE("word split: follows each alternative of GPT-2's pattern") {
  CHECK(words_of("").empty());
  CHECK(words_of("Hello world") == Words{"Hello", " world"});
  CHECK(words_of("I'll say you're 42, don't!") == Words{"I", "'ll", " say", " you", "'re", " 42", ",", " don", "'t", "!"});
  CHECK(words_of("x's x't x'm x'd x've") == Words{"x", "'s", " x", "'t", " x", "'m", " x", "'d", " x", "'ve"});
  CHECK(words_of("'S 's ''s '") == Words{"'", "S", " '", "s", " ''", "s", " '"});
  CHECK(words_of("'sea") == Words{"'s", "ea"});
  CHECK(words_of("abc123def") == Words{"abc", "123", "def"});
  CHECK(words_of("gr\u00FC\u00DFe \u4E2D\u6587\u00BD") == Words{"gr\u00FC\u00DFe", " \u4E2D\u6587", "\u00BD"});
  CHECK(words_of("e\u0301te") == Words{"e", "\u0301", "te"});  // a combining mark is no letter
}

TEST_CASE("word split: the last space joins the following word") {
  CHECK(words_of(" ") == Words{" "});
  CHECK(words_of("   ") == Words{"   "});
  CHECK(words_of("a  b") == Words{"a", " ", " b"});
  CHECK(words_of("a   b") == Words{"a", "  ", " b"});
  CHECK(words_of("a \n") == Words{"a", " \n"});
  CHECK(words_of("a\nb") == Words{"a", "\n", "b"});
  CHECK(words_of("a\n\nb") == Words{"a", "\n", "\n", "b"});
  CHECK(words_of("a \n b") == Words{"a", " \n", " b"});
  CHECK(words_of("a\u00A0b\u3000\u2003c") == Words{"a", "\u00A0", "b", "\u3000", "\u2003", "c"});
  CHECK(words_of("  's") == Words{" ", " '", "s"});
  CHECK(words_of("\t's") == Words{"\t", "'s"});
}

TEST_CASE("word split: the words concatenate to the text") {
  const std::string text = "\n \t a'll\u200B\u00A0 \u0301 99 \U0001F600\U0001F3FD 's's  ,, \r\n";
  std::string sum;
  for (const std::string& word : words_of(text)) sum += word;
  CHECK(sum == text);
}

TEST_CASE("word split: splits at white space") {
  CHECK(spaced_words_of("").empty());
  CHECK(spaced_words_of(" \t\n\u00A0").empty());
  CHECK(spaced_words_of("  the\tcat\u00A0sat ,\u3000on\u2028it's\n") == Words{"the", "cat", "sat", ",", "on", "it's"});
  CHECK(spaced_words_of("zero\u200Bwidth") == Words{"zero\u200Bwidth"});
}
