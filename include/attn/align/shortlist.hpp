#pragma once
#include "attn/align/lexical_table.hpp"
#include "attn/core/sentences.hpp"

namespace attn {

/// The most frequent ids of a text, in descending order. Ties take the lower id.
inline std::vector<Token> most_frequent(const Sentences& text, Index count) {
  std::vector<std::pair<Index, Token>> counts;  // negated counts: sorts the most frequent first
  for (const Token token : text.tokens) {
    require(token >= 0, "most_frequent: the token id ", token, " is negative");
    for (Token next = static_cast<Token>(counts.size()); next <= token; ++next) counts.emplace_back(0, next);
    --counts[static_cast<std::size_t>(token)].first;
  }
  std::erase_if(counts, [](const auto& each) { return each.first == 0; });
  std::ranges::sort(counts);
  std::vector<Token> tokens;
  for (Index i = 0; i < std::min(count, std::ssize(counts)); ++i)
    tokens.push_back(counts[static_cast<std::size_t>(i)].second);
  return tokens;
}

/// The allowed target words of a translation, so that a decoder scores only these: words that are always allowed (special
/// tokens, frequent words), and the most probable translations of each source word.
class Shortlist {
 public:
  /// `always`: ids in any order. `for_each_word`: number of translations per source word.
  Shortlist(const LexicalTable& table, std::vector<Token> always, Index for_each_word) : always_(std::move(always)) {
    require(for_each_word >= 0, "Shortlist: for_each_word is ", for_each_word, ", but must be at least 0");
    sort_once(always_);
    for (Token source = 0; source < table.source_words(); ++source)
      translations_.push_back(table.best(source, for_each_word));
  }

  /// The allowed ids for a sentence or for all tokens of a batch, sorted and unique.
  std::vector<Token> operator()(std::span<const Token> source) const {
    std::vector<Token> ids = always_;
    for (const Token word : source) {
      const std::span<const Token> best = of_word(word);
      ids.insert(ids.end(), best.begin(), best.end());
    }
    sort_once(ids);
    return ids;
  }

  /// The translations of a source word, most probable first. Empty for words outside the table.
  std::span<const Token> of_word(Token word) const {
    return word < 0 || word >= translations_.size() ? std::span<const Token>{} : translations_[word];
  }

 private:
  static void sort_once(std::vector<Token>& ids) {
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }

  std::vector<Token> always_;
  Sentences translations_;  // of each source word
};

}  // namespace attn
