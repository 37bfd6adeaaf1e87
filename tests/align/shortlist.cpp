#include "attn/align/shortlist.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

using namespace attn;

namespace {

using Tokens = std::vector<Token>;

/// 0 -> 10 (0.2) 11 (0.5) 12 (0.3), 1 -> 12 (1), 2 -> none, empty -> 99 (1)
const LexicalTable table({0, 3, 4, 4, 5}, {10, 11, 12, 12, 99}, {0.2F, 0.5F, 0.3F, 1.0F, 1.0F});

}  // namespace

TEST_CASE("shortlist: contains the required tokens and the best translations sorted without duplicates") {
  const Shortlist two(table, {5, 3, 5}, 2);
  CHECK(two(Tokens{0}) == Tokens{3, 5, 11, 12});
  CHECK(two(Tokens{1, 0, 1}) == Tokens{3, 5, 11, 12});
  CHECK(two(Tokens{1}) == Tokens{3, 5, 12});
  CHECK(two(Tokens{2, 77, -1}) == Tokens{3, 5});  // no translation, not in the table, no id
  CHECK(two(Tokens{}) == Tokens{3, 5});
  CHECK(Shortlist(table, {}, 1)(Tokens{0, 1}) == Tokens{11, 12});
  CHECK(Shortlist(table, {1}, 0)(Tokens{0, 1}) == Tokens{1});
  CHECK(std::ranges::equal(two.of_word(0), Tokens{11, 12}));
  CHECK(two.of_word(3).empty());  // the first id that the table does not know as a source word
  CHECK(contains(error_of([] { Shortlist(table, {}, -1); }), "for_each_word is -1, but must be at least 0"));
}

TEST_CASE("shortlist: finds the most frequent words of a text") {
  const Sentences text{{4, 2, 4}, {}, {9, 2, 4, 1}};
  CHECK(most_frequent(text, 2) == Tokens{4, 2});
  CHECK(most_frequent(text, 99) == Tokens{4, 2, 1, 9});
  CHECK(most_frequent(text, 0).empty());
  CHECK(most_frequent({}, 3).empty());
  CHECK(!error_of([] { most_frequent({{-2}}, 1); }).empty());
}
