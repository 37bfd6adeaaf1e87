#include "attn/text/bpe_merges.hpp"

#include <ctime>

#include "attn/core/random.hpp"
#include "support/files.hpp"
#include "support/sanitizer.hpp"

using namespace attn;
using Ids = std::vector<Token>;

namespace {

/// The definition, without a queue: look at all neighbours, merge the lowest rank, leftmost first, again and again.
Ids merged_slowly(const std::vector<Merge>& merges, Ids word) {
  while (true) {
    std::size_t best = merges.size(), place = 0;
    for (std::size_t i = 0; i + 1 < word.size(); ++i)
      for (std::size_t rank = 0; rank < best; ++rank)
        if (merges[rank].left == word[i] && merges[rank].right == word[i + 1]) best = rank, place = i;
    if (best == merges.size()) return word;
    word[place] = merges[best].result;
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

Ids merged(const BpeMerges& merges, const Ids& word) {
  BpeMerges::Workspace work;
  Ids ids;
  merges.apply(word, work, ids);
  return ids;
}

}  // namespace

TEST_CASE("bpe merges: the lowest rank comes first and then the leftmost pair") {
  const BpeMerges merges({{1, 2, 10}, {0, 1, 11}, {10, 3, 12}, {0, 0, 13}});
  CHECK(merged(merges, {}) == Ids{});
  CHECK(merged(merges, {7}) == Ids{7});
  CHECK(merged(merges, {0, 1, 2}) == Ids{0, 10});
  CHECK(merged(merges, {0, 1, 2, 3}) == Ids{0, 12});
  CHECK(merged(merges, {0, 1, 3}) == Ids{11, 3});
  CHECK(merged(merges, {0, 0, 0}) == Ids{13, 0});
  CHECK(merged(merges, {0, 0, 0, 0}) == Ids{13, 13});
}

TEST_CASE("bpe merges: random merges and words match the definition with a shared workspace") {
  Random random(1);
  BpeMerges::Workspace work;
  for (int round = 0; round < 200; ++round) {
    std::vector<Merge> list;
    for (Token result = 3; result < 20; ++result) {
      const Merge merge{static_cast<Token>(random.below(result)), static_cast<Token>(random.below(result)), result};
      const bool is_new = std::none_of(list.begin(), list.end(),
                                       [&](const Merge& m) { return m.left == merge.left && m.right == merge.right; });
      if (is_new) list.push_back(merge);
    }
    random.shuffle(list);  // a merge may then come before those that make its parts
    const BpeMerges merges(list);
    for (int i = 0; i < 50; ++i) {
      Ids word(static_cast<std::size_t>(random.below(80)));  // short ones and long ones go different ways
      for (Token& token : word) token = static_cast<Token>(random.below(3));
      Ids ids{42};
      merges.apply(word, work, ids);
      Ids expected = merged_slowly(list, word);
      expected.insert(expected.begin(), 42);  // apply appends
      REQUIRE(ids == expected);
    }
  }
}

TEST_CASE("bpe merges: a word of a million letters takes less than quadratic time") {
  std::vector<Merge> list;
  for (Token power = 0; power < 13; ++power) list.push_back({power, power, power + 1});
  const BpeMerges merges(list);
  const auto processor_time = [&](std::size_t words) {  // in words of 8,192 letters, which become one token each
    const std::clock_t start = std::clock();
    const Ids ids = merged(merges, Ids(words << 13, 0));
    CHECK(ids == Ids(words, 13));
    return static_cast<double>(std::clock() - start);
  };
  const std::size_t words = kSanitized ? 32 : 128;
  const double one = processor_time(1), all = processor_time(words);
  CHECK(all <
        static_cast<double>(8 * words) * one);  // `words` times, and some for memory; squared, it would be their square
  CHECK(all < 20.0 * CLOCKS_PER_SEC);           // squared, it would be hours
}

TEST_CASE("bpe merges: a pair cannot be merged in two ways") {
  CHECK(contains(error_of([] { BpeMerges({{1, 2, 3}, {2, 1, 4}, {1, 2, 5}}); }), "duplicate merge"));
}
