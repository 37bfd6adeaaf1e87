#include "attn/metrics/bootstrap.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "attn/metrics/score_systems.hpp"
#include "support/errors.hpp"

using namespace attn;

namespace {

using Text = std::vector<std::string>;

const Text a{"The old man sees a dog in the garden.", "Three birds sing.", "It is raining today.", "We do not know."};
const Text b{"The old man sees the dog in a park.", "Three birds are singing.", "It rains today.",
             "We know nothing at all."};
const std::vector<Text> references{{"The old man sees the dog in a garden.", "Three birds are singing today.",
                                    "It is raining today.", "We do not know that."}};

std::vector<Index> drawn(std::uint64_t seed) {
  Pcg64 random(seed);
  std::vector<Index> numbers;
  for (int i = 0; i < 8; ++i) numbers.push_back(random.below(1000));
  for (int i = 0; i < 5; ++i) numbers.push_back(random.below(7));
  for (int i = 0; i < 2; ++i) numbers.push_back(random.below(1));
  for (int i = 0; i < 3; ++i) numbers.push_back(random.below(3'000'000'000));
  return numbers;
}

}  // namespace

TEST_CASE("bootstrap: PCG64 matches numpy's default_rng") {  // numpy 2.4
  using Numbers = std::vector<Index>;
  CHECK(drawn(12345) ==
        Numbers{699, 227, 788, 316, 204, 797, 642, 676, 6, 2, 5, 2, 3, 0, 0, 1794926260, 639429039, 560202556});
  CHECK(drawn(0) == Numbers{850, 636, 511, 269, 307, 40, 75, 16, 1, 5, 4, 6, 3, 0, 0, 1819907326, 1896812393, 1630874973});
  CHECK(drawn((1ULL << 32) + 5) ==
        Numbers{132, 774, 778, 470, 878, 695, 848, 816, 5, 3, 3, 3, 4, 0, 0, 2678967203, 212393624, 1440045403});
}

// The literal numbers of the next cases are sacreBLEU 2.6.0's; tests/python/metrics.py compares hundreds more.

TEST_CASE("bootstrap: paired means and intervals and p-values match sacreBLEU") {
  const std::vector<Text> systems{a, b};
  const MetricScores bleu = score_systems(corpus_metric("bleu"), systems, references, BootstrapOptions{.samples = 200});
  CHECK(bleu.signature == "nrefs:1|bs:200|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:attn-" ATTN_VERSION);
  CHECK(bleu.systems[0].confidence->mean == doctest::Approx(48.05076430284975).epsilon(1e-14));
  CHECK(bleu.systems[0].confidence->interval == doctest::Approx(28.547337378442197).epsilon(1e-14));
  CHECK(!bleu.systems[0].p_value);
  CHECK(*bleu.systems[1].p_value == doctest::Approx(0.3880597014925373).epsilon(1e-14));
  CHECK(bleu.systems[0].cell() == "48.45 (48.05 ± 28.55)");
  CHECK(bleu.systems[1].cell() == "50.70 (48.60 ± 31.60) (p = 0.3881)");

  const MetricScores chrf = score_systems(corpus_metric("chrf"), systems, references, BootstrapOptions{.samples = 200});
  CHECK(static_cast<float>(chrf.systems[1].confidence->interval) == 22.565357F);
  CHECK(chrf.systems[1].cell() == "61.60 (61.33 ± 22.57) (p = 0.2886)");
}

TEST_CASE("bootstrap: a single system has an interval") {
  const std::vector<Text> system{{a[0], a[1]}}, wanted{{references[0][0], references[0][1]}};
  const MetricScores bleu = score_systems(corpus_metric("bleu"), system, wanted, BootstrapOptions{.samples = 100});
  CHECK(bleu.systems[0].line() ==
        "28.45 (μ = 27.94 ± 11.18) 92.9/50.0/20.0/12.5 (BP = 0.867 ratio = 0.875 hyp_len = 14 ref_len = 16)");
  const MetricScores chrf = score_systems(corpus_metric("chrf++"), system, wanted, BootstrapOptions{.samples = 100});
  CHECK(chrf.systems[0].line() == "59.00 (μ = 58.44 ± 14.88)");
}

TEST_CASE("bootstrap: a system compared with itself has no difference") {
  const std::vector<Text> systems{a, a};
  for (const std::string_view name : corpus_metric_names) {
    const MetricScores scores = score_systems(corpus_metric(name), systems, references, BootstrapOptions{.samples = 99});
    CHECK(*scores.systems[1].p_value == doctest::Approx(0.01));
    CHECK(scores.systems[1].confidence->mean == scores.systems[0].confidence->mean);
  }
}

TEST_CASE("bootstrap: a single sentence is drawn every time") {
  const std::vector<Text> systems{{"a b c d e"}}, wanted{{"a b c d x"}};
  const MetricScores scores = score_systems(corpus_metric("bleu"), systems, wanted, BootstrapOptions{.samples = 10});
  CHECK(scores.systems[0].confidence->interval == 0);
  CHECK(scores.systems[0].confidence->mean == doctest::Approx(scores.systems[0].score).epsilon(1e-6));
}

TEST_CASE("bootstrap: without it only the score and any signature are printed") {
  const std::vector<Text> system{a};
  const MetricScores bleu = score_systems(corpus_metric("bleu"), system, references);
  CHECK(bleu.systems[0].cell() == "48.45");
  CHECK(bleu.signature == corpus_bleu(a, references[0]).signature());
  CHECK(score_systems(corpus_metric("nltk"), system, references).signature.empty());
  CHECK(score_systems(corpus_metric("multi-bleu"), system, references).systems[0].score == multi_bleu(a, references[0]));
}

TEST_CASE("bootstrap: rejects unknown metrics and mismatched texts") {
  CHECK(error_of([] { corpus_metric("rouge"); }) ==
        "unknown metric 'rouge'. Use one of bleu, chrf, chrf++, multi-bleu, multi-bleu-lc, nltk");
  const std::vector<Text> short_one{{"a"}};
  CHECK(contains(error_of([&] { score_systems(corpus_metric("chrf"), short_one, references); }),
                 "chrF2: 1 hypotheses but 4 references"));
  CHECK(contains(error_of([&] {
                   paired_p_value({{1.0}}, {{1.0, 2.0}}, 0);
                 }),
                 "1 samples of the system, but 2 of the baseline"));
  const std::vector<Text> system{a};
  CHECK(
      contains(error_of([&] { score_systems(corpus_metric("bleu"), system, references, BootstrapOptions{.samples = 0}); }),
               "samples is 0, but must be at least 1"));
}
