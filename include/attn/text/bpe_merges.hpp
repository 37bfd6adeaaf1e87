#pragma once
#include <bit>

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

/// The merges of a byte-pair encoding in the order they were learned. Their indices are their ranks; lower ranks go first.
class BpeMerges {
 public:
  /// Scratch memory, reused between words.
  struct Workspace {
    struct Symbol {
      Token token;                  // -1 once merged into its left neighbour
      std::int32_t previous, next;  // -1 at the ends
    };
    std::vector<Symbol> symbols;
    std::vector<std::uint64_t> queue;  // rank in the upper, position in the lower 32 bits
    std::vector<Token> word;           // for the caller
    std::vector<Token> tokens;         // apply_to_short()
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

  /// Appends the merged tokens of one word to ids. Merges the pair of lowest rank first, ties from left to right. The queue
  /// of pairs keeps the cost O(n log n) in the length of the word. Pairs that a merge removes are skipped when popped.
  void apply(std::span<const Token> word, Workspace& work, std::vector<Token>& ids) const {
    if (word.size() <= 40) return apply_to_short(word, work, ids);
    auto& symbols = work.symbols;
    auto& queue = work.queue;
    const auto at = [&](std::int32_t place) -> auto& { return symbols[static_cast<std::size_t>(place)]; };
    const auto rank_at = [&](std::int32_t place) -> std::int32_t {
      if (place < 0 || at(place).token < 0 || at(place).next < 0) return -1;
      return rank(at(place).token, at(at(place).next).token);
    };
    const auto enqueue = [&](std::int32_t place) {
      const std::int32_t found = rank_at(place);
      if (found < 0) return;
      queue.push_back(static_cast<std::uint64_t>(found) << 32 | static_cast<std::uint32_t>(place));
      std::push_heap(queue.begin(), queue.end(), std::greater<>());
    };

    symbols.clear();
    for (std::int32_t place = 0; const Token token : word) symbols.push_back({token, place - 1, place + 1}), ++place;
    if (symbols.empty()) return;
    symbols.back().next = -1;
    queue.clear();
    for (std::int32_t place = 0; at(place).next >= 0; ++place) enqueue(place);

    while (!queue.empty()) {
      std::pop_heap(queue.begin(), queue.end(), std::greater<>());
      const auto next = static_cast<std::int32_t>(queue.back() >> 32);
      const auto place = static_cast<std::int32_t>(queue.back());
      queue.pop_back();
      if (rank_at(place) != next) continue;

      auto& left = at(place);
      auto& right = at(left.next);
      left.token = merges_[static_cast<std::size_t>(next)].result;
      left.next = right.next;
      if (right.next >= 0) at(right.next).previous = place;
      right.token = -1;
      enqueue(left.previous);
      enqueue(place);
    }
    for (std::int32_t place = 0; place >= 0; place = at(place).next) ids.push_back(at(place).token);
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
  void apply_to_short(std::span<const Token> word, Workspace& work, std::vector<Token>& ids) const {
    auto& tokens = work.tokens;
    auto& ranks = work.ranks;
    const auto rank_at = [&](std::size_t place) {  // -1, for none, becomes the highest
      return static_cast<std::uint32_t>(rank(tokens[place], tokens[place + 1]));
    };
    tokens.assign(word.begin(), word.end());
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
    ids.insert(ids.end(), tokens.begin(), tokens.end());
  }

  std::vector<Merge> merges_;
  std::vector<Place> places_;
};

}  // namespace attn
