#include "attn/data/batches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "data/random_batches.hpp"

using namespace random_batches;

namespace {

constexpr SpecialTokens special_tokens{.begin = 1, .end = 2, .source_end = 3};

std::vector<Index> ids_of(const std::vector<Batch>& batches) {
  std::vector<Index> ids;
  for (const Batch& batch : batches) ids.insert(ids.end(), batch.sentence_ids.begin(), batch.sentence_ids.end());
  return ids;
}

Index rows(const Batch& batch) { return static_cast<Index>(batch.source.tokens.size() + batch.target_input.tokens.size()); }

}  // namespace

TEST_CASE("batch: contains the model inputs and the labels") {
  ParallelCorpus corpus;
  corpus.source.push_back(std::vector<Token>{10, 11});
  corpus.target.push_back(std::vector<Token>{20, 21, 22});
  corpus.source.push_back({});
  corpus.target.push_back({});
  Batches batches(corpus, special_tokens, {.size = 2, .order = BatchOrder::sequential});
  Batch batch;
  REQUIRE(batches.next(batch));
  CHECK(batch.source == Sentences{{10, 11, 3}, {3}});
  CHECK(batch.target_input == Sentences{{1, 20, 21, 22}, {1}});
  CHECK(batch.target_output == Sentences{{20, 21, 22, 2}, {2}});
  CHECK(batch.sentence_ids == std::vector<Index>{0, 1});
  CHECK(batch.size() == 2);
  CHECK_FALSE(batches.next(batch));
  CHECK_FALSE(batches.next(batch));
}

TEST_CASE("batch: the ids of a part of a corpus are those of the whole corpus") {
  ParallelCorpus corpus;
  for (Token word = 10; word < 16; ++word) {
    corpus.source.push_back(std::vector<Token>{word});
    corpus.target.push_back(std::vector<Token>{word});
  }
  Batches batches(CorpusView(corpus).part(1, 5).part(1, 3), special_tokens, {.size = 3});
  Batch batch;
  REQUIRE(batches.next(batch));
  CHECK(std::ranges::is_permutation(batch.sentence_ids, std::vector<Index>{2, 3, 4}));
  for (Index i = 0; i < 3; ++i) CHECK(batch.source[i][0] == 10 + batch.sentence_ids[static_cast<std::size_t>(i)]);
}

TEST_CASE("batch: the source has no end token if the special tokens have none") {
  ParallelCorpus corpus;
  corpus.source.push_back(std::vector<Token>{10, 11});
  corpus.target.push_back(std::vector<Token>{20});
  Batches batches(corpus, {.begin = 1, .end = 2, .source_end = {}}, {});
  Batch batch;
  REQUIRE(batches.next(batch));
  CHECK(batch.source == Sentences{{10, 11}});
}

TEST_CASE("batch: special tokens come from the tokenizers of both sides") {
  struct Fixed {
    Token first, last;
    Token begin() const { return first; }
    Token end() const { return last; }
    Token pad() const { return 0; }
    Token unknown() const { return first + 10; }
  };
  const SpecialTokens found = special_tokens_of(Fixed{5, 6}, Fixed{7, 8});
  CHECK(found.begin == 7);
  CHECK(found.end == 8);
  CHECK(found.source_end == 6);
  CHECK(found.source_unknown == 15);
  CHECK(found.target_unknown == 17);
}

TEST_CASE("batches: an epoch contains every pair once for every kind of batch") {
  const ParallelCorpus corpus = random_corpus(203);
  for (const BatchOptions& options : every_kind()) {
    Batches batches(corpus, special_tokens, options);
    const std::vector<Batch> epoch = whole_epoch(batches, 4);
    CHECK(batches.batches_per_epoch() == static_cast<Index>(epoch.size()));
    std::vector<Index> ids = ids_of(epoch), expected(203);
    std::iota(expected.begin(), expected.end(), Index{0});
    if (options.order == BatchOrder::sequential)
      CHECK(ids == expected);
    else
      CHECK(ids != expected);
    std::sort(ids.begin(), ids.end());
    CHECK(ids == expected);
    for (const Batch& batch : epoch) {
      REQUIRE(batch.size() > 0);
      if (options.unit == BatchUnit::sentences)
        CHECK(batch.size() <= 8);
      else
        CHECK(rows(batch) <= 100);
      for (Index i = 0; i < batch.size(); ++i) {
        const Index id = batch.sentence_ids[static_cast<std::size_t>(i)];
        REQUIRE(batch.source.length(i) == corpus.source.length(id) + 1);
        REQUIRE(batch.target_output.length(i) == corpus.target.length(id) + 1);
        CHECK(std::ranges::equal(batch.source[i].first(batch.source[i].size() - 1), corpus.source[id]));
        CHECK(std::ranges::equal(batch.target_input[i].subspan(1), corpus.target[id]));
      }
    }
  }
}

TEST_CASE("batches: sentence batches are full except the last") {
  const ParallelCorpus corpus = random_corpus(203);
  for (const BatchOrder order : {BatchOrder::sequential, BatchOrder::shuffled, BatchOrder::pooled}) {
    Batches batches(corpus, special_tokens, {.size = 8, .order = order, .pool = 5});
    CHECK(batches.batches_per_epoch() == 26);
    const std::vector<Batch> epoch = whole_epoch(batches, 1);
    CHECK(std::ranges::count(epoch, Index{8}, &Batch::size) == 25);
    CHECK(std::ranges::count(epoch, Index{3}, &Batch::size) == 1);
  }
}

TEST_CASE("batches: token batches take as many pairs as fit including special tokens") {
  ParallelCorpus corpus;
  for (const std::size_t length : {3U, 3U, 3U, 8U, 1U, 0U}) {  // 2 * (length + 1) rows each: 8, 8, 8, 18, 4, 2
    corpus.source.push_back(std::vector<Token>(length, 10));
    corpus.target.push_back(std::vector<Token>(length, 20));
  }
  const auto sizes = [&](Index budget) {
    Batches batches(corpus, special_tokens, {.size = budget, .unit = BatchUnit::tokens, .order = BatchOrder::sequential});
    std::vector<Index> found;
    for (const Batch& batch : whole_epoch(batches, 0)) found.push_back(batch.size());
    return found;
  };
  CHECK(sizes(16) == std::vector<Index>{2, 1, 1, 2});  // the fourth pair is over the budget and stands alone
  CHECK(sizes(15) == std::vector<Index>{1, 1, 1, 1, 2});
  CHECK(sizes(1) == std::vector<Index>{1, 1, 1, 1, 1, 1});
  CHECK(sizes(48) == std::vector<Index>{6});
  CHECK(sizes(47) == std::vector<Index>{5, 1});
}

TEST_CASE("batches: the order depends only on seed and epoch") {
  const ParallelCorpus corpus = random_corpus(203);
  for (const BatchOptions& options : every_kind()) {
    if (options.order == BatchOrder::sequential) continue;
    Batches batches(corpus, special_tokens, options), others(corpus, special_tokens, options);
    const std::vector<Batch> fifth = whole_epoch(batches, 5);
    others.start_epoch(9);
    Batch batch;
    others.next(batch);
    CHECK(whole_epoch(others, 5) == fifth);
    CHECK(whole_epoch(others, 6) != fifth);
    BatchOptions reseeded = options;
    reseeded.seed = 4;
    Batches different(corpus, special_tokens, reseeded);
    CHECK(whole_epoch(different, 5) != fifth);
  }
}

TEST_CASE("batches: the order is the same on every machine") {
  ParallelCorpus corpus;
  for (Token i = 0; i < 8; ++i) {
    corpus.source.push_back(std::vector<Token>(static_cast<std::size_t>(i % 4), 10));
    corpus.target.push_back(std::vector<Token>{20});
  }
  const auto ids = [&](BatchOrder order) {
    Batches batches(corpus, special_tokens, {.size = 2, .order = order, .pool = 4, .seed = 42});
    return ids_of(whole_epoch(batches, 1));
  };
  CHECK(ids(BatchOrder::shuffled) == std::vector<Index>{0, 7, 1, 3, 2, 6, 4, 5});
  CHECK(ids(BatchOrder::pooled) == std::vector<Index>{1, 5, 2, 6, 7, 3, 0, 4});
}

TEST_CASE("batches: resume at the saved position") {
  const ParallelCorpus corpus = random_corpus(203);
  for (const BatchOptions& options : every_kind()) {
    Batches stopped(corpus, special_tokens, options), resumed(corpus, special_tokens, options);
    stopped.start_epoch(2);
    CHECK(stopped.position() == Batches::Position{2, 0});
    Batch batch;
    for (int i = 0; i < 7; ++i) REQUIRE(stopped.next(batch));
    CHECK(stopped.position() == Batches::Position{2, 7});
    resumed.seek(stopped.position());
    CHECK(rest_of_epoch(resumed) == rest_of_epoch(stopped));
    CHECK(resumed.position() == Batches::Position{2, resumed.batches_per_epoch()});
    resumed.seek(resumed.position());  // stopped exactly between two epochs
    CHECK_FALSE(resumed.next(batch));
  }
}

TEST_CASE("batches: pooled batches contain sentences of similar length") {
  const ParallelCorpus corpus = random_corpus(2000);
  const auto spread = [&](BatchOrder order) {
    Batches batches(corpus, special_tokens, {.size = 10, .order = order, .pool = 50});
    Index sum = 0;
    for (const Batch& batch : whole_epoch(batches, 0)) {
      Index shortest = batch.source.longest();
      for (Index i = 0; i < batch.size(); ++i) shortest = std::min(shortest, batch.source.length(i));
      sum += batch.source.longest() - shortest;
    }
    return static_cast<double>(sum) / 200;
  };
  CHECK(spread(BatchOrder::shuffled) > 12);
  CHECK(spread(BatchOrder::pooled) < 1);
}

TEST_CASE("batches: pooled batches are shuffled and regrouped every epoch") {
  const ParallelCorpus corpus = random_corpus(2000);
  Batches batches(corpus, special_tokens, {.size = 10, .order = BatchOrder::pooled, .pool = 200});
  const std::vector<Batch> first = whole_epoch(batches, 0), second = whole_epoch(batches, 1);
  Index rises = 0;
  for (std::size_t i = 1; i < first.size(); ++i) rises += first[i].source.longest() > first[i - 1].source.longest();
  CHECK(rises > 60);  // sorted batches would rise 19 times at most
  std::set<std::vector<Index>> company;
  for (const Batch& batch : first) company.insert(batch.sentence_ids);
  CHECK(std::ranges::none_of(second, [&](const Batch& batch) { return company.contains(batch.sentence_ids); }));
}

TEST_CASE("batches: reuse their memory") {
  const ParallelCorpus corpus = random_corpus(500);
  for (const BatchOptions& options : every_kind()) {
    Batches batches(corpus, special_tokens, options);
    Batch batch;
    REQUIRE(batches.next(batch));
    const auto places = [&] {
      return std::vector<const void*>{batch.source.tokens.data(),        batch.source.offsets.data(),
                                      batch.target_input.tokens.data(),  batch.target_input.offsets.data(),
                                      batch.target_output.tokens.data(), batch.target_output.offsets.data(),
                                      batch.sentence_ids.data()};
    };
    const auto at_first = places();
    bool moved = false;
    for (Index epoch = 0; epoch < 20; ++epoch)
      for (batches.start_epoch(epoch); batches.next(batch);) moved = moved || places() != at_first;
    CHECK_FALSE(moved);
  }
}

TEST_CASE("batches: find the largest batches of several epochs without producing them") {
  const ParallelCorpus corpus = random_corpus(500);
  for (const BatchOptions& options : every_kind()) {
    Batches batches(corpus, special_tokens, options);
    const std::vector<Batch> largest = batches.largest(2, 3);
    CHECK(batches.position() == Batches::Position{0, 0});
    Index most_rows = 0, most_sentences = 0;
    for (const Index epoch : {2, 3, 4})
      for (const Batch& batch : whole_epoch(batches, epoch)) {
        most_rows = std::max(most_rows, rows(batch));
        most_sentences = std::max(most_sentences, batch.size());
      }
    CHECK(rows(largest.front()) == most_rows);
    CHECK(largest.back().size() == most_sentences);
    CHECK(largest.size() == (largest.front().size() == most_sentences ? 1 : 2));
  }
}

TEST_CASE("batches: reject corpora and options that give no batches") {
  const ParallelCorpus corpus = random_corpus(20), empty;
  ParallelCorpus lopsided = corpus;
  lopsided.target.push_back(std::vector<Token>{1});
  CHECK_THROWS_WITH_AS(Batches(empty, special_tokens, {}), "Batches: the corpus has no sentences", Error);
  CHECK_THROWS_WITH_AS(Batches(lopsided, special_tokens, {}),
                       "Batches: 20 source sentences, but 21 target sentences. Pass one target per source.", Error);
  CHECK_THROWS_WITH_AS(Batches(corpus, special_tokens, {.size = 0}), "Batches: size is 0, but must be 1 to 2147483647",
                       Error);
  CHECK_THROWS_WITH_AS(Batches(corpus, special_tokens, {.pool = -1}), "Batches: pool is -1, but must be 1 to 2147483647",
                       Error);

  Batches batches(corpus, special_tokens, {.size = 10});
  CHECK_THROWS_WITH_AS(batches.start_epoch(-1), "Batches: there is no epoch -1; epochs count from 0", Error);
  CHECK_THROWS_WITH_AS(batches.seek({3, 5}),
                       "Batches: cannot resume at batch 5: epoch 3 has 2 batches. Use the corpus and the batch options of "
                       "the run that you resume.",
                       Error);
  CHECK_THROWS_AS(batches.seek({0, -1}), Error);
}
