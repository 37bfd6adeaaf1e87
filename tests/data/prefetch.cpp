#include "attn/data/prefetch.hpp"

#include <doctest/doctest.h>

#include <atomic>

#include "attn/core/random.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "support/errors.hpp"

using namespace attn;

namespace {

constexpr SpecialTokens special_tokens{.begin = 1, .end = 2, .source_end = 3, .source_unknown = 4, .target_unknown = 4};
constexpr BatchOptions options{.size = 7, .order = BatchOrder::pooled, .pool = 2, .seed = 3};
constexpr BatchOptions masked{.size = 7, .order = BatchOrder::pooled, .pool = 2, .seed = 3, .mask_rate = 0.3};

ParallelCorpus numbered(Index pairs) {
  ParallelCorpus corpus;
  for (Index i = 0; i < pairs; ++i) {
    const std::vector<Token> words(static_cast<std::size_t>(i % 5), static_cast<Token>(10 + i));
    corpus.source.push_back(words);
    corpus.target.push_back(words);
  }
  return corpus;
}

struct Seen {
  Batch batch;
  Batches::Position after;
  bool operator==(const Seen&) const = default;
};

/// All batches of some epochs, from a position on.
std::vector<Seen> deal(Batches& batches, Batches::Position from, Index epochs, Index depth) {
  std::vector<Seen> seen;
  Prefetch prefetch(batches, from, depth);
  CHECK(prefetch.position() == from);
  while (prefetch.position().epoch < epochs) {
    Batch batch;
    if (prefetch.next(batch)) {
      seen.push_back({batch, prefetch.position()});
    } else {
      CHECK_FALSE(prefetch.next(batch));  // until told to go on
      prefetch.next_epoch();
    }
  }
  return seen;
}

/// A corpus that breaks at one pair, once it is told to.
struct Breaking {
  ParallelCorpus corpus = numbered(40);
  Index broken = 25;
  std::atomic<bool>* on;

  Index size() const { return corpus.size(); }
  Index source_length(Index i) const { return corpus.source_length(i); }
  Index target_length(Index i) const { return corpus.target_length(i); }
  std::span<const Token> source_tokens(Index i, std::vector<Token>& space) const {
    require(i != broken || !*on, "pair ", i, " cannot be read");
    return corpus.source_tokens(i, space);
  }
  std::span<const Token> target_tokens(Index i, std::vector<Token>& space) const { return corpus.target_tokens(i, space); }
};

}  // namespace

TEST_CASE("prefetch: prefetched batches have the same content and order from any position") {
  const ParallelCorpus corpus = numbered(40);
  for (const BatchOptions& kind : {options, masked}) {
    Batches batches(corpus, special_tokens, kind);
    for (const Batches::Position from : {Batches::Position{0, 0}, {1, 3}, {1, 6}, {2, 0}}) {
      const std::vector<Seen> plain = deal(batches, from, 4, 0);
      CHECK(std::ssize(plain) == (4 - from.epoch) * 6 - from.batch);
      for (const Index depth : {1, 2, 4, 100}) CHECK(deal(batches, from, 4, depth) == plain);
    }
  }
}

TEST_CASE("prefetch: leaves the batches at the consumer's position") {
  const ParallelCorpus corpus = numbered(40);
  Batches batches(corpus, special_tokens, options);
  for (const Index depth : {0, 3, 50}) {
    {
      Prefetch prefetch(batches, {1, 2}, depth);
      Batch batch;
      for (int i = 0; i < 2; ++i) CHECK(prefetch.next(batch));
    }
    CHECK(batches.position() == Batches::Position{1, 4});
  }
}

TEST_CASE("prefetch: rethrows errors of its thread when the batch is requested") {
  std::atomic<bool> on = true;
  const Breaking corpus{.on = &on};
  for (const Index depth : {0, 1, 4}) {
    Batches batches(corpus, special_tokens, {.size = 10, .order = BatchOrder::sequential});
    Prefetch prefetch(batches, {0, 0}, depth);
    Batch batch;
    CHECK(prefetch.next(batch));
    CHECK(prefetch.next(batch));
    CHECK(batch.sentence_ids.front() == 10);
    for (int i = 0; i < 2; ++i) CHECK(contains(error_of([&] { prefetch.next(batch); }), "pair 25 cannot be read"));
    CHECK(prefetch.position() == Batches::Position{0, 2});
  }
}

TEST_CASE("prefetch: counts waiting time and rejects misuse") {
  const ParallelCorpus corpus = numbered(40);
  Batches batches(corpus, special_tokens, options);
  CHECK(contains(error_of([&] { Prefetch prefetch(batches, {0, 0}, -1); }), "depth is -1, but must be at least 0"));
  CHECK(contains(error_of([&] { Prefetch prefetch(batches, {0, 99}, 2); }), "cannot resume at batch 99"));
  Prefetch prefetch(batches, {0, 0}, 2);
  CHECK(prefetch.seconds_waited() == 0);
  CHECK(contains(error_of([&] { prefetch.next_epoch(); }), "epoch 0 has batches left"));
  Batch batch;
  prefetch.next(batch);
  CHECK(prefetch.seconds_waited() > 0);
}
