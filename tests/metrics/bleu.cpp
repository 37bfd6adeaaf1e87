#include "attn/metrics/bleu.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace attn;

namespace {

using Text = std::vector<std::string>;

Bleu bleu(const Text& hypotheses, const Text& references) { return corpus_bleu(hypotheses, references); }

}  // namespace

// The literal lines of this file are sacreBLEU 2.6.0's; tests/python/metrics.py compares hundreds more.

TEST_CASE("corpus BLEU: sums counts over the sentences") {
  const Bleu score = bleu({"The old man sees a dog in the garden.", "Three birds sing."},
                          {"The old man sees the dog in a garden.", "Three birds are singing today."});
  CHECK(score.to_string() == "BLEU = 28.45 92.9/50.0/20.0/12.5 (BP = 0.867 ratio = 0.875 hyp_len = 14 ref_len = 16)");
  CHECK(score.score == doctest::Approx(28.45373376271816).epsilon(1e-14));
  CHECK(score.matches == std::array<Index, 4>{13, 6, 2, 1});
  CHECK(score.totals == std::array<Index, 4>{14, 12, 10, 8});
  CHECK(score.brevity_penalty == doctest::Approx(0.8668778997501817).epsilon(1e-14));
  CHECK(score.hypothesis_length == 14);
  CHECK(score.reference_length == 16);
}

TEST_CASE("corpus BLEU: identical texts score 100") {
  CHECK(bleu({"a b c d e"}, {"a b c d e"}).to_string() ==
        "BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 5 ref_len = 5)");
}

TEST_CASE("corpus BLEU: exponential smoothing applies to orders without a match") {
  CHECK(bleu({"a b c d"}, {"a c b d"}).to_string() ==
        "BLEU = 22.59 100.0/16.7/12.5/12.5 (BP = 1.000 ratio = 1.000 hyp_len = 4 ref_len = 4)");
  CHECK(bleu({"a b c d e f"}, {"a b x d y f"}).to_string() ==
        "BLEU = 19.30 66.7/20.0/12.5/8.3 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)");
}

TEST_CASE("corpus BLEU: clips counts at the reference counts") {
  CHECK(bleu({"the the the the the"}, {"the cat sat on the mat"}).to_string() ==
        "BLEU = 10.40 40.0/12.5/8.3/6.2 (BP = 0.819 ratio = 0.833 hyp_len = 5 ref_len = 6)");
}

TEST_CASE("corpus BLEU: empty texts and texts too short for 4-grams score 0") {
  CHECK(bleu({"one"}, {"one"}).to_string() ==
        "BLEU = 0.00 100.0/0.0/0.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 1 ref_len = 1)");
  CHECK(bleu({""}, {"a b"}).to_string() ==
        "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 0.000 ratio = 0.000 hyp_len = 0 ref_len = 2)");
  CHECK(bleu({"a b"}, {""}).to_string() ==
        "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 2 ref_len = 0)");
  CHECK(bleu({""}, {""}).to_string() == "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 0 ref_len = 0)");
}

TEST_CASE("corpus BLEU: several references use the highest n-gram count and the closest length") {
  const std::vector<Text> references{{"The old man sees the dog in a garden.", "Three birds are singing today."},
                                     {"An old man is seeing a dog in the garden.", "Three birds sing!"}};
  const Bleu score = corpus_bleu(Text{"The old man sees a dog in the garden.", "Three birds sing."}, references);
  CHECK(score.to_string() == "BLEU = 73.49 100.0/83.3/70.0/50.0 (BP = 1.000 ratio = 1.000 hyp_len = 14 ref_len = 14)");
  CHECK(score.signature() == "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:attn-" ATTN_VERSION);
  // Of two lengths as near, the shorter: 2 or 4 words for 3.
  CHECK(corpus_bleu(Text{"a b c"}, std::vector<Text>{{"a b c d"}, {"a b"}}).reference_length == 2);
  CHECK(corpus_bleu(Text{"a b c"}, std::vector<Text>{{"a b"}, {"a b c d"}}).reference_length == 2);
}

TEST_CASE("corpus BLEU: is case-sensitive") { CHECK(bleu({"The cat sat down"}, {"the cat sat down"}).matches[0] == 3); }

TEST_CASE("corpus BLEU: an empty score prints zeros") {
  CHECK(Bleu{}.to_string() == "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 0 ref_len = 0)");
}

TEST_CASE("corpus BLEU: the signature has the form of sacreBLEU") {
  CHECK(Bleu{}.signature() == "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:attn-" ATTN_VERSION);
}

TEST_CASE("corpus BLEU: rejects empty corpora and different sentence counts") {
  CHECK_THROWS_WITH_AS(
      bleu({"a", "b"}, {"a"}),
      "corpus_bleu: 2 hypotheses but 1 references; give one reference for each hypothesis, in the same order", Error);
  CHECK_THROWS_AS(bleu({}, {}), Error);
  CHECK_THROWS_WITH_AS(corpus_bleu(Text{"a"}, std::vector<Text>{}), "corpus_bleu: no references. Pass at least one text.",
                       Error);
  CHECK_THROWS_AS(corpus_bleu(Text{"a"}, std::vector<Text>{{"a"}, {"a", "b"}}), Error);
}
