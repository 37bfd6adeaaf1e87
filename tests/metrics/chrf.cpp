#include "attn/metrics/chrf.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace attn;

namespace {

using Text = std::vector<std::string>;

const Text hypotheses{"The old man sees a dog in the garden.", "Three birds sing."};
const Text first{"The old man sees the dog in a garden.", "Three birds are singing today."};
const Text second{"An old man is seeing a dog in the garden.", "Three birds sing!"};

double chrf(const std::string& hypothesis, const std::string& reference, ChrfWords words = ChrfWords::none) {
  return corpus_chrf(Text{hypothesis}, Text{reference}, words).score;
}

}  // namespace

// The literal scores of this file are sacreBLEU 2.6.0's; tests/python/metrics.py compares hundreds more.

TEST_CASE("chrF: chrF and chrF++ of a corpus match known values") {
  const Chrf characters = corpus_chrf(hypotheses, first), words = corpus_chrf(hypotheses, first, ChrfWords::pairs);
  CHECK(characters.score == doctest::Approx(57.405105469725505).epsilon(1e-14));
  CHECK(characters.to_string() == "chrF2 = 57.41");
  CHECK(characters.signature() == "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:attn-" ATTN_VERSION);
  CHECK(words.score == doctest::Approx(59.00292292301388).epsilon(1e-14));
  CHECK(words.to_string() == "chrF2++ = 59.00");
  CHECK(words.signature() == "nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:attn-" ATTN_VERSION);
}

TEST_CASE("chrF: uses the best reference for each sentence") {
  const std::vector<Text> references{first, second};
  const Chrf characters = corpus_chrf(hypotheses, references);
  CHECK(characters.score == doctest::Approx(76.10773070525391).epsilon(1e-14));
  CHECK(characters.signature().starts_with("nrefs:2|"));
  CHECK(corpus_chrf(hypotheses, references, ChrfWords::pairs).score == doctest::Approx(75.97960755274997).epsilon(1e-14));
}

TEST_CASE("chrF: characters are code points without white space") {
  CHECK(chrf("a b", "ab") == doctest::Approx(100));
  CHECK(chrf("a b", "ab", ChrfWords::pairs) == doctest::Approx(66.66666666666666).epsilon(1e-14));
  CHECK(chrf("東京都", "東京") == doctest::Approx(87.49999999999999).epsilon(1e-14));
  CHECK(chrf("e\u0301", "\u00e9") == 0);
  CHECK(chrf("a\u3000\u2003b", "ab") == doctest::Approx(100));
}

TEST_CASE("chrF: chrF++ removes one punctuation mark per word starting at the end") {
  CHECK(chrf("(hi) there", "hi there") == doctest::Approx(50.58538799495517).epsilon(1e-14));
  CHECK(chrf("(hi) there", "hi there", ChrfWords::pairs) == doctest::Approx(43.62728730556767).epsilon(1e-14));
}

TEST_CASE("chrF: invalid UTF-8 bytes count as characters") {
  CHECK(chrf("\xff\xc2", "\xff\xc2") == doctest::Approx(100));
  CHECK(chrf("\xff", "\xfe") == 0);
}

TEST_CASE("chrF: an empty side scores 0") {
  CHECK(chrf("", "") == 0);
  CHECK(chrf("a", "") == 0);
  CHECK(chrf("", "a") == 0);
  CHECK(chrf(" \t", " ") == 0);
}

TEST_CASE("chrF: requires one reference per hypothesis") {
  CHECK_THROWS_WITH_AS(
      corpus_chrf(Text{"a", "b"}, Text{"a"}),
      "corpus_chrf: 2 hypotheses but 1 references; give one reference for each hypothesis, in the same order", Error);
  CHECK_THROWS_AS(corpus_chrf(Text{}, Text{}), Error);
}
