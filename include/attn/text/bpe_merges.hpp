#pragma once
#include <bit>
#include <queue>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Replaces two neighbouring tokens by one.
struct Merge {
  Token left, right, result;
  bool operator==(const Merge&) const = default;
};

constexpr std::uint64_t pair_key(Token left, Token right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

/// Merges neighbouring items until no pair has a rank: the pair of lowest rank first, ties from left to right. rank(a, b) is
/// below 2^32, or -1 for a pair that does not merge; merge(a, b, rank) turns a into the merged item. The queue of pairs keeps
/// the cost O(n log n). Pairs that a merge removes are skipped when popped.
template <class Item>
void merge_neighbours(std::vector<Item>& items, const auto& rank, const auto& merge) {
  using Place = std::uint32_t;
  struct Pair {
    std::uint64_t key;  // rank in the upper, left item in the lower 32 bits
    Place right, end;   // end: the item after right
    bool operator>(const Pair& other) const { return key > other.key; }
  };
  const auto size = static_cast<Place>(items.size());
  std::vector<Place> before(size), after(size);  // neighbours; size: none. after: 0 once merged into its left neighbour
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> queue;
  const auto look_at = [&](Place left, Place right) {
    if (left >= size || right >= size) return;
    const Index found = rank(items[left], items[right]);
    if (found >= 0) queue.push({static_cast<std::uint64_t>(found) << 32 | left, right, after[right]});
  };
  for (Place i = 0; i < size; ++i) before[i] = i == 0 ? size : i - 1, after[i] = i + 1;
  for (Place i = 1; i < size; ++i) look_at(i - 1, i);
  while (!queue.empty()) {
    const auto [key, right, end] = queue.top();
    const auto left = static_cast<Place>(key);
    queue.pop();
    if (after[left] != right || after[right] != end) continue;
    merge(items[left], items[right], static_cast<Index>(key >> 32));
    after[left] = end, after[right] = 0;
    if (end < size) before[end] = left;
    look_at(before[left], left);
    look_at(left, end);
  }
  Place kept = 0;
  for (Place i = 0; i < size; i = after[i]) items[kept++] = items[i];
  items.resize(kept);
}

/// The merges of a byte-pair encoding in the order they were learned. Their indices are their ranks; lower ranks go first.
class BpeMerges {
 public:
  /// Scratch memory, reused between words.
  struct Workspace {
    std::vector<Token> word;  // for the caller
    std::vector<Token> tokens;
    std::vector<std::uint32_t> ranks;  // ranks[i]: of the pair (tokens[i], tokens[i + 1])
  };

  explicit BpeMerges(std::vector<Merge> merges) : merges_(std::move(merges)) {
    places_.resize(std::bit_ceil(2 * merges_.size() + 2));
    for (std::int32_t rank = 0; const auto& [left, right, result] : merges_) {
      Place& place = find(pair_key(left, right));
      require(place.rank < 0, "byte-pair encoding: duplicate merge ", rank, " (tokens ", left, " and ", right, ")");
      place = {pair_key(left, right), rank++};
    }
  }

  const std::vector<Merge>& list() const { return merges_; }

  /// Appends the merged tokens of one word to ids. Merges the pair of lowest rank first, ties from left to right.
  void apply(std::span<const Token> word, Workspace& work, std::vector<Token>& ids) const {
    auto& tokens = work.tokens;
    tokens.assign(word.begin(), word.end());
    if (tokens.size() <= 40)
      merge_short(tokens, work.ranks);
    else
      merge_neighbours(
          tokens, [this](Token left, Token right) -> Index { return rank(left, right); },
          [this](Token& left, Token, Index rank) { left = merges_[static_cast<std::size_t>(rank)].result; });
    ids.insert(ids.end(), tokens.begin(), tokens.end());
  }

 private:
  /// A slot of an open-addressing hash table with linear probing, at most half full.
  struct Place {
    std::uint64_t key = 0;
    std::int32_t rank = -1;  // -1: free
  };

  Place& find(std::uint64_t key) { return const_cast<Place&>(std::as_const(*this).find(key)); }
  const Place& find(std::uint64_t key) const {
    const std::size_t last = places_.size() - 1;
    std::uint64_t at = key * 0x9e3779b97f4a7c15ULL;
    for (at ^= at >> 32; places_[at & last].rank >= 0 && places_[at & last].key != key; ++at) continue;
    return places_[at & last];
  }
  std::int32_t rank(Token left, Token right) const { return find(pair_key(left, right)).rank; }

  /// Scans all pairs for each merge. For typical word lengths this is faster than a queue.
  void merge_short(std::vector<Token>& tokens, std::vector<std::uint32_t>& ranks) const {
    const auto rank_at = [&](std::size_t place) {  // -1, for none, becomes the highest
      return static_cast<std::uint32_t>(rank(tokens[place], tokens[place + 1]));
    };
    ranks.resize(tokens.size());
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) ranks[i] = rank_at(i);
    for (std::size_t pairs = tokens.empty() ? 0 : tokens.size() - 1; pairs > 0; --pairs) {
      std::size_t best = 0;
      for (std::size_t i = 1; i < pairs; ++i)
        if (ranks[i] < ranks[best]) best = i;
      if (ranks[best] == std::numeric_limits<std::uint32_t>::max()) break;
      tokens[best] = merges_[ranks[best]].result;
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(best) + 1);
      ranks.erase(ranks.begin() + static_cast<std::ptrdiff_t>(best));
      if (best > 0) ranks[best - 1] = rank_at(best - 1);
      if (best + 1 < tokens.size()) ranks[best] = rank_at(best);
    }
  }

  std::vector<Merge> merges_;
  std::vector<Place> places_;
};

}  // namespace attn
