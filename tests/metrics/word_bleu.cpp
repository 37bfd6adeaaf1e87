#include "attn/metrics/word_bleu.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace attn;

namespace {

using Text = std::vector<std::string>;

const Text hypotheses{"The old man sees a dog in the garden .", "Three birds sing ."};
const Text references{"The old man sees the dog in a garden .", "Three birds are singing today ."};

}  // namespace

// The literal scores of multi_bleu are sacreBLEU 2.6.0's with tokenize=none and smooth_method=none;
// tests/python/word_bleu.py compares hundreds with NLTK and with multi-bleu.perl.

TEST_CASE("word BLEU: sums counts over the sentences") {
  CHECK(multi_bleu(hypotheses, references) == doctest::Approx(28.45373376271816).epsilon(1e-14));
  CHECK(nltk_bleu(hypotheses, references) == doctest::Approx(28.45373376271816).epsilon(1e-14));
  CHECK(multi_bleu(references, references) == doctest::Approx(100).epsilon(1e-14));
  CHECK(multi_bleu(Text{"The  old man sees a dog\tin the garden . ", "Three birds sing ."}, references) ==
        doctest::Approx(28.45373376271816).epsilon(1e-14));
}

TEST_CASE("word BLEU: a sentence too short for an n-gram lowers NLTK's precision but not multi-bleu's") {
  Text more = hypotheses, wanted = references;
  more.emplace_back("Yes .");
  wanted.emplace_back("Yes .");
  CHECK(multi_bleu(more, wanted) == doctest::Approx(29.578740888756535).epsilon(1e-14));
  CHECK(nltk_bleu(more, wanted) == doctest::Approx(28.044221011814177).epsilon(1e-14));
}

TEST_CASE("word BLEU: -lc lowercases only ASCII") {
  const Text shouted{"the Old man sees a dog in the garden .", "three Birds sing ."};
  CHECK(multi_bleu(shouted, references) == 0);
  CHECK(multi_bleu(shouted, references, true) == doctest::Approx(28.45373376271816).epsilon(1e-14));
  CHECK(multi_bleu(Text{"a b c d Ä"}, Text{"A B C D ä"}, true) < 100);
}

TEST_CASE("word BLEU: Moses splits at ASCII white space and NLTK at Unicode white space") {
  const Text with_no_break_space{"a\u00a0b c d e f"}, spaced{"a b c d e f"};
  CHECK(multi_bleu(with_no_break_space, spaced) < 100);
  CHECK(multi_bleu(Text{"a\tb\vc\fd\re  f "}, spaced) == doctest::Approx(100));
  CHECK(nltk_bleu(with_no_break_space, spaced) == doctest::Approx(100));
}

TEST_CASE("word BLEU: an order without a match gives 0 without smoothing") {
  CHECK(multi_bleu(Text{"a b c d"}, Text{"a b c x"}) == 0);
  CHECK(nltk_bleu(Text{"a b c d"}, Text{"a b c x"}) == 0);
  CHECK(multi_bleu(Text{""}, Text{"a b c d"}) == 0);
}

TEST_CASE("word BLEU: requires one reference per hypothesis") {
  CHECK_THROWS_WITH_AS(
      multi_bleu(Text{"a"}, Text{}),
      "word_bleu: 1 hypotheses but 0 references; give one reference for each hypothesis, in the same order", Error);
  CHECK_THROWS_AS(nltk_bleu(Text{}, Text{}), Error);
}
