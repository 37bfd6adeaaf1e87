#include "attn/core/batch.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

using namespace attn;

TEST_CASE("a batch of bare sentences gets its special tokens") {
  const Batch batch = Batch::of({{5, 6, 7}, {}}, {{9, 4}, {3}}, {.begin = 0, .end = 2, .source_end = 1});
  CHECK(batch.source == Sentences{{5, 6, 7, 1}, {1}});
  CHECK(batch.target_input == Sentences{{0, 9, 4}, {0, 3}});
  CHECK(batch.target_output == Sentences{{9, 4, 2}, {3, 2}});
  CHECK(batch.sentence_ids.empty());
  CHECK(batch.size() == 2);
  CHECK(batch.labels() == 5);
}

TEST_CASE("a batch without an end of the source keeps its sentences as they are") {
  const Batch batch = Batch::of({{5}, {}}, {{}, {3}}, {.begin = 0, .end = 2});
  CHECK(batch.source == Sentences{{5}, {}});
  CHECK(batch.target_input == Sentences{{0}, {0, 3}});
  CHECK(batch.target_output == Sentences{{2}, {3, 2}});
}

TEST_CASE("a cleared batch is empty and can be filled again") {
  Batch batch = Batch::of({{5}}, {{6}}, {.begin = 0, .end = 2});
  batch.sentence_ids = {4};
  batch.clear();
  CHECK(batch == Batch{});
  const std::vector<Token> from{5}, to{6};
  batch.add(from, to, {.begin = 0, .end = 2});
  CHECK(batch == Batch::of({{5}}, {{6}}, {.begin = 0, .end = 2}));
}

TEST_CASE("sentences that do not pair make no batch") {
  const std::string sentence = error_of([] { Batch::of({{5}, {6}}, {{6}}, {.begin = 0, .end = 2}); });
  CHECK(sentence == "Batch: 2 source sentences, but 1 target sentences. Pass one target per source.");
}
