#pragma once
#include <algorithm>

#include "attn/core/types.hpp"

namespace attn {

/// Statistics of sentence lengths.
class LengthStatistics {
 public:
  void add(Index length) {
    shortest_ = sentences_ == 0 ? length : std::min(shortest_, length);
    longest_ = std::max(longest_, length);
    total_ += length;
    ++sentences_;
  }

  void add(const LengthStatistics& others) {
    if (others.sentences_ == 0) return;
    shortest_ = sentences_ == 0 ? others.shortest_ : std::min(shortest_, others.shortest_);
    longest_ = std::max(longest_, others.longest_);
    total_ += others.total_;
    sentences_ += others.sentences_;
  }

  Index sentences() const { return sentences_; }
  Index total() const { return total_; }
  Index shortest() const { return shortest_; }  // 0 without sentences, like the others
  Index longest() const { return longest_; }
  double average() const { return sentences_ == 0 ? 0 : static_cast<double>(total_) / static_cast<double>(sentences_); }

  /// The average rounded up, as papers report it. Integer arithmetic avoids double rounding.
  Index average_rounded_up() const { return sentences_ == 0 ? 0 : (total_ + sentences_ - 1) / sentences_; }

 private:
  Index sentences_ = 0, total_ = 0, shortest_ = 0, longest_ = 0;
};

}  // namespace attn
