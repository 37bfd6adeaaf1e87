#include "attn/core/sentences.hpp"

#include <doctest/doctest.h>

using attn::Sentences;
using attn::Token;

TEST_CASE("sentences: an empty collection has size and longest length 0") {
  const Sentences none;
  CHECK(none.size() == 0);
  CHECK(none.longest() == 0);
}

TEST_CASE("sentences: are packed end to end including empty ones") {
  const Sentences sentences{{4, 5, 6}, {}, {7}};
  CHECK(sentences.size() == 3);
  CHECK(sentences.tokens == std::vector<Token>{4, 5, 6, 7});
  CHECK(sentences.offsets == std::vector<std::int32_t>{0, 3, 3, 4});
  CHECK(sentences.length(1) == 0);
  CHECK(sentences.longest() == 3);
  CHECK(sentences[1].empty());
  CHECK(std::vector<Token>(sentences[2].begin(), sentences[2].end()) == std::vector<Token>{7});
}

TEST_CASE("sentences: can be refilled after clear") {
  Sentences sentences{{1, 2}, {3}};
  sentences.clear();
  CHECK(sentences == Sentences{});
  sentences.push_back(std::vector<Token>{9});
  CHECK(sentences == Sentences{{9}});
}

TEST_CASE("sentences: are equal if their tokens and boundaries are equal") {
  CHECK(Sentences{{1}, {2}} == Sentences{{1}, {2}});
  CHECK(Sentences{{1}, {2}} != Sentences{{1, 2}});
  CHECK(Sentences{{1}, {}} != Sentences{{1}});
}
