#include "attn/metrics/bleu.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using attn::tokenize_13a;
using Words = std::vector<std::string>;

TEST_CASE("tokenize 13a: separates punctuation but not inside numbers") {
  CHECK(tokenize_13a("Er kostet 1.000,50 Euro (ca. 3.5%), nicht 5.") ==
        Words{"Er", "kostet", "1.000,50", "Euro", "(", "ca", ".", "3.5", "%", ")", ",", "nicht", "5", "."});
  CHECK(tokenize_13a(" .5 5. ,.,") == Words{".", "5", "5", ".", ",", ".", ","});
  CHECK(tokenize_13a("don't/do") == Words{"don't", "/", "do"});
}

TEST_CASE("tokenize 13a: separates a dash only after a digit") {
  CHECK(tokenize_13a("1990-1995 well-known -5") == Words{"1990", "-", "1995", "well-known", "-5"});
}

TEST_CASE("tokenize 13a: decodes HTML entities in sequence") {
  CHECK(tokenize_13a("&quot;a&quot; &amp;lt; b") == Words{"\"", "a", "\"", "<", "b"});
  CHECK(tokenize_13a("&apos;") == Words{"&", "apos", ";"});
}

TEST_CASE("tokenize 13a: joins words hyphenated at a line end and drops skipped tags") {
  CHECK(tokenize_13a("wo-\nrd a\nb") == Words{"word", "a", "b"});
  CHECK(tokenize_13a("word-\n") == Words{"word-"});  // white space at the end goes first, so nothing is broken here
  CHECK(tokenize_13a("a<skipped>b") == Words{"ab"});
}

TEST_CASE("tokenize 13a: leaves non-ASCII punctuation attached") {
  CHECK(tokenize_13a("„Ja“, sagt er…") == Words{"„Ja“", ",", "sagt", "er…"});
}

TEST_CASE("tokenize 13a: splits at the white space of Python's str.split") {
  // no-break space, em space and file separator split; the zero-width space does not
  CHECK(tokenize_13a("a\u00a0b\u2003c\u200bd\x1c"
                     "e\u3000") == Words{"a", "b", "c\u200bd", "e"});
  CHECK(tokenize_13a("\u00a0 \t").empty());
  CHECK(tokenize_13a("").empty());
}

TEST_CASE("tokenize 13a: treats invalid UTF-8 bytes as parts of words") {
  CHECK(tokenize_13a("a\xff.\xc2 b\xe2\x80") == Words{"a\xff", ".", "\xc2", "b\xe2\x80"});
}
