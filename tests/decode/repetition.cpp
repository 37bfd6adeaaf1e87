#include "attn/decode/repetition.hpp"

#include <doctest/doctest.h>

using namespace attn;
using Tokens = std::vector<Token>;

TEST_CASE("repetition: finds tokens that would repeat an n-gram") {
  const Tokens words{1, 2, 3, 1, 2};
  CHECK(repeating_tokens(words, 0).empty());
  CHECK(repeating_tokens(words, 1) == words);
  CHECK(repeating_tokens(words, 2) == Tokens{3});
  CHECK(repeating_tokens(words, 3) == Tokens{3});
  CHECK(repeating_tokens(words, 4).empty());
  CHECK(repeating_tokens(Tokens{}, 1).empty());
  CHECK(repeating_tokens(Tokens{7}, 2).empty());
  CHECK(repeating_tokens(Tokens{7, 7}, 2) == Tokens{7});
  CHECK(repeating_tokens(Tokens{7, 7, 7}, 2) == Tokens{7, 7});
  CHECK(repeating_tokens(Tokens{7, 8}, 9).empty());
}

TEST_CASE("repetition: detects a loop and its length") {
  CHECK(repeated_ending(Tokens{}) == 0);
  CHECK(repeated_ending(Tokens{5, 5, 5}) == 0);
  CHECK(repeated_ending(Tokens{5, 5, 5, 5}) == 1);
  CHECK(repeated_ending(Tokens{1, 2, 3, 9, 5, 5, 5, 5}) == 1);
  CHECK(repeated_ending(Tokens{4, 1, 2, 1, 2, 1, 2, 1, 2}) == 2);
  CHECK(repeated_ending(Tokens{4, 2, 1, 2, 1, 2, 1}) == 0);
  CHECK(repeated_ending(Tokens{4, 2, 1, 2, 1, 2, 1}, 3) == 2);
  CHECK(repeated_ending(Tokens{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}) == 3);
  CHECK(repeated_ending(Tokens{1, 1, 1, 1, 2}) == 0);  // it got out
}
