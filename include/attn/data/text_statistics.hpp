#pragma once
#include <string_view>

#include "attn/data/length_statistics.hpp"
#include "attn/text/tokenizer.hpp"
#include "attn/text/word_counts.hpp"

namespace attn {

/// What a text is made of: its words, and how long its lines are.
struct TextStatistics {
  WordCounts words;
  LengthStatistics lengths;

  /// Adds a line, as long as it has words.
  void add(std::string_view line) {
    const Index before = words.tokens();
    words.add(line);
    lengths.add(words.tokens() - before);
  }

  /// Adds a line, as long as it has tokens, and `special_tokens` more.
  template <EncodesText Tokenizer>
  void add(std::string_view line, const Tokenizer& tokenizer, Index special_tokens = 0) {
    words.add(line);
    lengths.add(static_cast<Index>(tokenizer.encode(line).size()) + special_tokens);
  }
};

}  // namespace attn
