#include "common/training_corpus.hpp"

#include <doctest/doctest.h>

#include "parallel/thread_ranks.hpp"

TEST_CASE("learn once: the first rank learns the tokenizer and all ranks get it") {
  const std::vector<std::string> english{"the cat sees the dog", "the dog sees a \"cat\""},
      german{"die Katze sieht den Hünd"};
  const attn::ByteBpe alone = attn::learn_byte_bpe(290, english, german);
  REQUIRE(alone.size() > 270);
  std::vector<int> same(3);
  thread_ranks::on_ranks(3, [&](attn::Communicator& ranks) {
    const std::vector<std::string> nothing;  // what others would learn from is never looked at
    const attn::ByteBpe got =
        ranks.leads() ? attn::learn_once(ranks, 290, english, german) : attn::learn_once(ranks, 290, nothing, nothing);
    same[static_cast<std::size_t>(ranks.rank())] = got.tokens() == alone.tokens() && got.merges() == alone.merges();
  });
  CHECK(same == std::vector<int>{1, 1, 1});
}
