#include "common/join_pairs.hpp"

#include <doctest/doctest.h>

using namespace attn;

TEST_CASE("join pairs: joins consecutive pairs as long as both sides fit") {
  const ParallelText text{{"a b", "c", "d e f", "g", "  h\ti "}, {"A", "B C", "D", "E F", "G"}};
  ParallelText joined = join_pairs(text, 4);
  CHECK(joined.source == std::vector<std::string>{"a b c", "d e f g", "  h\ti "});
  CHECK(joined.target == std::vector<std::string>{"A B C", "D E F", "G"});
  joined = join_pairs(text, 3);  // the third and fourth source have four words
  CHECK(joined.source == std::vector<std::string>{"a b c", "d e f", "g   h\ti "});
  CHECK(joined.target == std::vector<std::string>{"A B C", "D", "E F G"});
  joined = join_pairs({{"a", "b"}, {"A", "B C D"}}, 3);  // the target is too long
  CHECK(joined.source == std::vector<std::string>{"a", "b"});
}

TEST_CASE("join pairs: keeps pairs that are longer and texts without pairs or words") {
  const ParallelText text{{"a b c", "d", "e"}, {"A", "B", "C"}};
  const ParallelText alone = join_pairs(text, 1), two = join_pairs(text, 2);
  CHECK(alone.source == text.source);
  CHECK(alone.target == text.target);
  CHECK(two.source == std::vector<std::string>{"a b c", "d e"});
  CHECK(join_pairs({}, 5).source.empty());
  CHECK(join_pairs({{"", "a"}, {"", "A"}}, 1).source == std::vector<std::string>{" a"});
}
