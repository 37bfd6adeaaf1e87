#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Two neighbouring tokens that become one.
struct Merge {
  Token left, right, result;
  bool operator==(const Merge&) const = default;
};

/// The merges of a byte-pair encoding in the order in which they were learned: a merge's place is its rank, and a lower
/// rank goes first.
class BpeMerges {
 public:
  /// Memory for one word, reused for the next.
  struct Workspace {
    struct Symbol {
      Token token;                  // -1 once merged into the one before
      std::int32_t previous, next;  // -1 at the ends
    };
    std::vector<Symbol> symbols;
    std::vector<std::uint64_t> queue;  // rank, then place
  };

  explicit BpeMerges(std::vector<Merge> merges) : merges_(std::move(merges)) {
    rank_.reserve(merges_.size());
    for (const auto& [left, right, result] : merges_) {
      const bool added = rank_.emplace(key(left, right), static_cast<std::int32_t>(rank_.size())).second;
      require(added, "byte-pair encoding: merge ", rank_.size(), " (of the tokens ", left, " and ", right,
              ") is there twice");
    }
  }

  const std::vector<Merge>& list() const { return merges_; }

  /// Appends to ids what becomes of the tokens of one word.
  void apply(std::span<const Token> word, Workspace& work, std::vector<Token>& ids) const;

 private:
  static std::uint64_t key(Token left, Token right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  }

  std::vector<Merge> merges_;
  std::unordered_map<std::uint64_t, std::int32_t> rank_;
};

/// The neighbours of lowest rank are merged first, the leftmost of equals. A queue of pairs keeps long words from costing
/// the square of their length; it is not searched when pairs vanish: one that is no longer there when its turn comes is
/// passed over.
inline void BpeMerges::apply(std::span<const Token> word, Workspace& work, std::vector<Token>& ids) const {
  auto& [symbols, queue] = work;
  const auto at = [&symbols = symbols](std::int32_t place) -> auto& { return symbols[static_cast<std::size_t>(place)]; };
  const auto rank_at = [&](std::int32_t place) -> std::int32_t {
    if (place < 0 || at(place).token < 0 || at(place).next < 0) return -1;
    const auto found = rank_.find(key(at(place).token, at(at(place).next).token));
    return found == rank_.end() ? -1 : found->second;
  };
  const auto enqueue = [&, &queue = queue](std::int32_t place) {
    const std::int32_t rank = rank_at(place);
    if (rank < 0) return;
    queue.push_back(static_cast<std::uint64_t>(rank) << 32 | static_cast<std::uint32_t>(place));
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
    const auto rank = static_cast<std::int32_t>(queue.back() >> 32);
    const auto place = static_cast<std::int32_t>(queue.back());
    queue.pop_back();
    if (rank_at(place) != rank) continue;

    auto& left = at(place);
    auto& right = at(left.next);
    left.token = merges_[static_cast<std::size_t>(rank)].result;
    left.next = right.next;
    if (right.next >= 0) at(right.next).previous = place;
    right.token = -1;
    enqueue(left.previous);
    enqueue(place);
  }
  for (std::int32_t place = 0; place >= 0; place = at(place).next) ids.push_back(at(place).token);
}

}  // namespace attn
