#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "attn/data/batches.hpp"
#include "data/random_batches.hpp"
#include "support/errors.hpp"

using namespace random_batches;

namespace {

constexpr SpecialTokens special_tokens{.begin = 1, .end = 2, .source_end = 3, .source_unknown = 4, .target_unknown = 5};

}  // namespace

TEST_CASE("word dropout: replaces input tokens only and leaves labels and special tokens") {
  ParallelCorpus corpus;  // begin and end tokens also occur inside the sentences
  corpus.source.push_back(std::vector<Token>{10, 3, 11, 12, 1, 13});
  corpus.target.push_back(std::vector<Token>{20, 21, 1, 2, 22, 3, 23});
  corpus.source.push_back({});
  corpus.target.push_back({});
  Batches batches(corpus, special_tokens, {.size = 2, .order = BatchOrder::sequential, .mask_rate = 0.999999});
  Batch batch;
  REQUIRE(batches.next(batch));
  CHECK(batch.source == Sentences{{4, 3, 4, 4, 4, 4, 3}, {3}});
  CHECK(batch.target_input == Sentences{{1, 5, 5, 1, 2, 5, 5, 5}, {1}});
  CHECK(batch.target_output == Sentences{{20, 21, 1, 2, 22, 3, 23, 2}, {2}});
}

TEST_CASE("word dropout: replaces the given fraction of each side in every epoch") {
  const ParallelCorpus corpus = random_corpus(2000);
  Batches batches(corpus, special_tokens, {.size = 50, .mask_rate = 0.1});
  for (const Index epoch : {0, 1, 7}) {
    double source = 0, target = 0, both = 0;
    std::vector<double> places(19);  // masked first tokens, second tokens, ...
    for (const Batch& batch : whole_epoch(batches, epoch)) {
      source += static_cast<double>(std::ranges::count(batch.source.tokens, Token{4}));
      target += static_cast<double>(std::ranges::count(batch.target_input.tokens, Token{5}));
      for (Index i = 0; i < batch.size(); ++i)
        for (std::size_t j = 0; j + 1 < batch.source[i].size(); ++j) {
          places[j] += batch.source[i][j] == 4;
          both += batch.source[i][j] == 4 && j + 1 < batch.target_input[i].size() && batch.target_input[i][j + 1] == 5;
        }
    }
    const auto fraction_of = [](double masked, const Sentences& text) {
      return masked / static_cast<double>(text.tokens.size());
    };
    CHECK(fraction_of(source, corpus.source) == doctest::Approx(0.1).epsilon(0.05));
    CHECK(fraction_of(target, corpus.target) == doctest::Approx(0.1).epsilon(0.05));
    CHECK(both == doctest::Approx(0.01 * 12'350).epsilon(0.3));  // sides are independent: 0.1 * 0.1 of their common places
    CHECK(places[0] == doctest::Approx(190).epsilon(0.25));      // of 1,900 sentences that are not empty
    CHECK(places[9] == doctest::Approx(100).epsilon(0.35));
  }
}

TEST_CASE("word dropout: masks depend only on seed and epoch and sentence") {
  const ParallelCorpus corpus = random_corpus(203);
  const auto inputs = [&](BatchOptions options, Index epoch) {  // of both sides, by sentence
    options.mask_rate = 0.3;
    Batches batches(corpus, special_tokens, options);
    std::vector<std::vector<Token>> found(203);
    for (const Batch& batch : whole_epoch(batches, epoch))
      for (Index i = 0; i < batch.size(); ++i) {
        auto& both = found[static_cast<std::size_t>(batch.sentence_ids[static_cast<std::size_t>(i)])];
        both.assign(batch.source[i].begin(), batch.source[i].end());
        both.insert(both.end(), batch.target_input[i].begin(), batch.target_input[i].end());
      }
    return found;
  };
  const auto expected = inputs({.seed = 3}, 5);
  for (const BatchOptions& options : every_kind()) CHECK(inputs(options, 5) == expected);
  CHECK(inputs({.seed = 3}, 6) != expected);
  CHECK(inputs({.seed = 4}, 5) != expected);
}

TEST_CASE("word dropout: masks are the same on every machine") {
  ParallelCorpus corpus;
  corpus.source.push_back(std::vector<Token>{10, 11, 12, 13, 14, 15, 16, 17});
  corpus.target.push_back(std::vector<Token>{20, 21, 22, 23, 24, 25, 26, 27});
  Batches batches(corpus, special_tokens, {.seed = 42, .mask_rate = 0.5});
  const Batch batch = whole_epoch(batches, 1).front();
  CHECK(batch.source == Sentences{{10, 4, 4, 4, 4, 4, 16, 17, 3}});
  CHECK(batch.target_input == Sentences{{1, 5, 5, 5, 5, 5, 5, 26, 27}});
}

TEST_CASE("word dropout: masked batches resume at the saved position and keep their size") {
  const ParallelCorpus corpus = random_corpus(203);
  for (BatchOptions options : every_kind()) {
    Batches plain(corpus, special_tokens, options);
    options.mask_rate = 0.2;
    Batches stopped(corpus, special_tokens, options), resumed(corpus, special_tokens, options);
    stopped.start_epoch(2);
    Batch batch;
    for (int i = 0; i < 7; ++i) REQUIRE(stopped.next(batch));
    resumed.seek(stopped.position());
    CHECK(rest_of_epoch(resumed) == rest_of_epoch(stopped));
    const std::vector<Batch> masked = whole_epoch(stopped, 3), whole = whole_epoch(plain, 3);
    REQUIRE(masked.size() == whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      CHECK(masked[i].target_output == whole[i].target_output);
      CHECK(masked[i].source.offsets == whole[i].source.offsets);
      CHECK(masked[i].target_input.offsets == whole[i].target_input.offsets);
      CHECK(masked[i].sentence_ids == whole[i].sentence_ids);
    }
  }
}

TEST_CASE("word dropout: a mask rate of 0 changes nothing") {
  const ParallelCorpus corpus = random_corpus(203);
  for (BatchOptions options : every_kind()) {
    Batches unset(corpus, {1, 2, 3}, options);
    options.mask_rate = 0;
    Batches zero(corpus, special_tokens, options);
    for (const Index epoch : {0, 4}) CHECK(whole_epoch(zero, epoch) == whole_epoch(unset, epoch));
  }
}

TEST_CASE("word dropout: rejects rates out of range and vocabularies without an unknown token") {
  const ParallelCorpus corpus = random_corpus(20);
  const auto refused = [&](double rate, const SpecialTokens& special = special_tokens) {
    return error_of([&] { Batches(corpus, special, {.mask_rate = rate}); });
  };
  CHECK(refused(-0.1) == "Batches: mask_rate is -0.1, but must be at least 0 and below 1");
  CHECK(refused(1) == "Batches: mask_rate is 1, but must be at least 0 and below 1");
  CHECK(contains(refused(std::numeric_limits<double>::quiet_NaN()), "nan, but must be at least 0 and below 1"));
  const std::string none =
      "Batches: mask_rate is 0.1, but a vocabulary has no <unk> token. Add <unk>, or omit --mask-tokens.";
  CHECK(refused(0.1, {1, 2, 3}) == none);
  CHECK(refused(0.1, {0, 0, 0, 0, 0}) == none);  // GPT-2: one token for everything
  CHECK(refused(0.1, {1, 2, 3, 4, 2}) == none);
  CHECK(refused(0.1) == "");
}
