#pragma once
#include "attn/data/parallel_text.hpp"
#include "attn/text/tokenizer.hpp"
#include "attn/text/word_vocabulary.hpp"

namespace attn {

/// Word counts and line lengths of a text.
struct TextStatistics {
  WordCounts words;
  LengthStatistics lengths;

  /// Adds a line; its length is the number of words.
  void add(std::string_view line) {
    const Index before = words.tokens();
    words.add(line);
    lengths.add(words.tokens() - before);
  }

  /// Adds a line; its length is the number of tokens plus `special_tokens`.
  template <EncodesText Tokenizer>
  void add(std::string_view line, const Tokenizer& tokenizer, Index special_tokens = 0) {
    words.add(line);
    lengths.add(static_cast<Index>(tokenizer.encode(line).size()) + special_tokens);
  }
};

}  // namespace attn
