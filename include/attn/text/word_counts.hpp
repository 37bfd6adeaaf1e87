#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/types.hpp"
#include "attn/text/string_map.hpp"
#include "attn/text/word_split.hpp"

namespace attn {

/// Counts the words of a text. Words are separated by any Unicode White_Space.
class WordCounts {
 public:
  WordCounts() = default;
  explicit WordCounts(std::span<const std::string> lines) {
    for (const std::string& line : lines) add(line);
  }

  /// Counts the words of one line of UTF-8.
  void add(std::string_view line) {
    utf8::require_valid(line);
    for_each_spaced_word(line, [this](std::string_view word) {
      ++tokens_;
      if (const auto found = counts_.find(word); found != counts_.end())
        ++found->second;
      else
        counts_.emplace(word, 1);
    });
  }

  Index tokens() const { return tokens_; }                            // words in the text
  Index types() const { return static_cast<Index>(counts_.size()); }  // distinct words
  Index seen_once() const {
    return std::count_if(counts_.begin(), counts_.end(), [](auto& word) { return word.second == 1; });
  }
  /// The number of occurrences of words seen less than `times` times. A vocabulary without these words maps them to
  /// unknown.
  Index tokens_seen_less_than(Index times) const {
    Index tokens = 0;
    for (const auto& [word, count] : counts_) tokens += count < times ? count : 0;
    return tokens;
  }
  Index count(std::string_view word) const {
    const auto found = counts_.find(word);
    return found == counts_.end() ? 0 : found->second;
  }

  /// Words and counts by descending count, ties in byte order.
  std::vector<std::pair<std::string, Index>> by_frequency() const {
    std::vector<std::pair<std::string, Index>> words(counts_.begin(), counts_.end());
    std::sort(words.begin(), words.end(),
              [](const auto& a, const auto& b) { return a.second != b.second ? a.second > b.second : a.first < b.first; });
    return words;
  }

 private:
  detail::StringMap<Index> counts_;
  Index tokens_ = 0;
};

}  // namespace attn
