#include "attn/align/ibm_model1.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "attn/core/random.hpp"
#include "support/errors.hpp"

using namespace attn;

namespace {

// das 0, Haus 1, Buch 2, ein 3; the 0, house 1, book 2, a 3
const Sentences german{{0, 1}, {0, 2}, {3, 2}}, english{{0, 1}, {0, 2}, {3, 2}};

/// Pairs whose targets are drawn from a noisy dictionary: t is s + 1 modulo the vocabulary, most of the time.
std::pair<Sentences, Sentences> noisy_text(Index pairs, Index words, std::uint64_t seed) {
  Random random(seed);
  Sentences source, target;
  for (Index i = 0; i < pairs; ++i) {
    std::vector<Token> from, to;
    for (Index length = random.below(9); length > 0; --length) {
      from.push_back(static_cast<Token>(random.below(words)));
      to.push_back(static_cast<Token>(random.uniform() < 0.8 ? (from.back() + 1) % words : random.below(words)));
    }
    random.shuffle(to);
    source.push_back(from);
    target.push_back(to);
  }
  return {source, target};
}

}  // namespace

TEST_CASE("IBM model 1: the house and book example matches a manual calculation") {
  // Without an empty word the first iteration shares each target among two sources. Counts of das: the 1/2 + 1/2, house
  // 1/2, book 1/2; of Haus: the 1/2, house 1/2; of Buch: the 1/2, book 1/2 + 1/2, a 1/2; of ein: a 1/2, book 1/2.
  const IbmModel1 once = train_ibm_model1(german, english, {.iterations = 1, .empty_word = false});
  CHECK(once.table.source_words() == 4);
  CHECK(once.table.entries() == 3 + 2 + 3 + 2);
  CHECK(once.table.probability(0, 0) == doctest::Approx(0.5));
  CHECK(once.table.probability(0, 1) == doctest::Approx(0.25));
  CHECK(once.table.probability(1, 0) == doctest::Approx(0.5));
  CHECK(once.table.probability(2, 2) == doctest::Approx(0.5));
  CHECK(once.table.probability(2, 3) == doctest::Approx(0.25));
  CHECK(once.table.probability(3, 3) == doctest::Approx(0.5));
  CHECK(once.table.probability(1, 2) == 0);  // never met
  // Uniform t = 1/4 and two words to come from: each of the 6 target words has (1/4 + 1/4) / 2.
  REQUIRE(once.log_likelihoods.size() == 1);
  CHECK(once.log_likelihoods[0] == doctest::Approx(6 * std::log(0.25)));

  // The second: "the" of the first pair is shared 1/2 : 1/2 between das and Haus, "house" 1/4 : 1/2; "the" of the second
  // pair 1/2 : 1/4 between das and Buch. das gives the 1/2 + 2/3, house 1/3, book 1/3 (of 1/4 : 1/2): 7/6 of 11/6.
  const IbmModel1 twice = train_ibm_model1(german, english, {.iterations = 2, .empty_word = false});
  CHECK(twice.table.probability(0, 0) == doctest::Approx(7.0 / 11));
  CHECK(twice.table.probability(0, 1) == doctest::Approx(2.0 / 11));
  CHECK(twice.table.probability(1, 1) == doctest::Approx((2.0 / 3) / (2.0 / 3 + 1.0 / 2)));

  const IbmModel1 often = train_ibm_model1(german, english, {.iterations = 100, .empty_word = false});
  for (const Token word : {0, 1, 2, 3}) CHECK(often.table.probability(word, word) > 0.99);
}

TEST_CASE("IBM model 1: the likelihood rises with every iteration and rows sum to 1") {
  for (const bool empty_word : {true, false}) {
    const auto [source, target] = noisy_text(400, 30, 7);
    const IbmModel1 model = train_ibm_model1(source, target, {.iterations = 30, .empty_word = empty_word});
    for (std::size_t i = 1; i < model.log_likelihoods.size(); ++i)
      CHECK(model.log_likelihoods[i] > model.log_likelihoods[i - 1]);
    for (Token s = 0; s <= model.table.empty_word(); ++s) {
      double sum = 0;
      for (const float p : model.table[s].probabilities) sum += static_cast<double>(p);
      CHECK(sum == doctest::Approx(s < model.table.empty_word() || empty_word ? 1 : 0).epsilon(1e-5));
    }
    for (Token s = 0; s < 30; ++s) CHECK(model.table.best(s, 1) == std::vector{static_cast<Token>((s + 1) % 30)});
  }
}

TEST_CASE("IBM model 1: results are bitwise identical for any number of threads") {
  const auto [source, target] = noisy_text(300, 50, 3);
  const IbmModel1 one = train_ibm_model1(source, target, {.threads = 1});
  for (const int threads : {2, 3, 7, 0}) {
    const IbmModel1 several = train_ibm_model1(source, target, {.threads = threads});
    CHECK(several.table == one.table);
    CHECK(several.log_likelihoods == one.log_likelihoods);
  }
}

TEST_CASE("IBM model 1: the empty word explains words that occur everywhere") {
  // Target 9 stands in every sentence, whatever the source says.
  Sentences source, target;
  for (Token word = 0; word < 8; ++word) {
    source.push_back(std::vector<Token>{word});
    target.push_back(std::vector<Token>{word, 9});
  }
  const IbmModel1 model = train_ibm_model1(source, target, {.iterations = 30});
  CHECK(model.table.probability(model.table.empty_word(), 9) > 0.9);
  for (Token word = 0; word < 8; ++word) CHECK(model.table.probability(word, word) > 0.9);
}

TEST_CASE("IBM model 1: handles empty sentences and repeated words") {
  const Sentences source{{}, {0, 0}, {1}, {}}, target{{0}, {0, 0, 1}, {}, {}};
  for (const bool empty_word : {true, false}) {
    const IbmModel1 model = train_ibm_model1(source, target, {.iterations = 3, .empty_word = empty_word});
    CHECK(model.table.probability(0, 0) == doctest::Approx(2.0 / 3).epsilon(0.1));
    CHECK(model.table[1].targets.empty());
    for (const double each : model.log_likelihoods) CHECK(std::isfinite(each));
    // Without an empty word nothing explains the first target, which then counts for nothing.
    if (!empty_word) CHECK(model.log_likelihoods[0] == doctest::Approx(3 * std::log(0.5)));
  }
}

TEST_CASE("IBM model 1: reports iterations and prunes the table and rejects invalid input") {
  std::vector<Index> reported;
  const IbmModel1 pruned = train_ibm_model1(
      german, english,
      {.iterations = 3, .prune_below = 0.3, .report = [&](Index iteration, double) { reported.push_back(iteration); }});
  CHECK(reported == std::vector<Index>{1, 2, 3});
  CHECK(pruned.table == train_ibm_model1(german, english, {.iterations = 3}).table.pruned(0.3));
  CHECK(pruned.table.entries() < 10);

  CHECK(contains(error_of([] { train_ibm_model1({{1}}, {{1}, {2}}); }), "1 source sentences, but 2 target sentences"));
  CHECK(contains(error_of([] { train_ibm_model1({{}}, {{1}}); }), "the text has no words. Pass at least one pair"));
  CHECK(contains(error_of([] { train_ibm_model1({{1}}, {{-1}}); }), "the word id -1 is negative"));
  CHECK(contains(error_of([] { train_ibm_model1(german, english, {.iterations = 0}); }),
                 "iterations is 0, but must be at least 1"));
}
