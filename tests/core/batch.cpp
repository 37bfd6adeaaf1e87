#include "attn/core/batch.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

using namespace attn;

TEST_CASE("batch: adds special tokens to bare sentences") {
  const Batch batch = Batch::of({{5, 6, 7}, {}}, {{9, 4}, {3}}, {.begin = 0, .end = 2, .source_end = 1});
  CHECK(batch.source == Sentences{{5, 6, 7, 1}, {1}});
  CHECK(batch.target_input == Sentences{{0, 9, 4}, {0, 3}});
  CHECK(batch.target_output == Sentences{{9, 4, 2}, {3, 2}});
  CHECK(batch.sentence_ids.empty());
  CHECK(batch.size() == 2);
  CHECK(batch.labels() == 5);
}

TEST_CASE("batch: without a source end token sentences stay unchanged") {
  const Batch batch = Batch::of({{5}, {}}, {{}, {3}}, {.begin = 0, .end = 2});
  CHECK(batch.source == Sentences{{5}, {}});
  CHECK(batch.target_input == Sentences{{0}, {0, 3}});
  CHECK(batch.target_output == Sentences{{2}, {3, 2}});
}

TEST_CASE("batch: a cleared batch is empty and can be reused") {
  Batch batch = Batch::of({{5}}, {{6}}, {.begin = 0, .end = 2});
  batch.sentence_ids = {4};
  batch.clear();
  CHECK(batch == Batch{});
  const std::vector<Token> from{5}, to{6};
  batch.add(from, to, {.begin = 0, .end = 2});
  CHECK(batch == Batch::of({{5}}, {{6}}, {.begin = 0, .end = 2}));
}

TEST_CASE("batch: rejects different numbers of source and target sentences") {
  const std::string sentence = error_of([] { Batch::of({{5}, {6}}, {{6}}, {.begin = 0, .end = 2}); });
  CHECK(sentence == "Batch: 2 source sentences, but 1 target sentences. Pass one target per source.");
}
