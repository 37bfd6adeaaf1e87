#pragma once
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "attn/align/lexical_table.hpp"
#include "attn/core/sentences.hpp"

namespace attn {

/// The ids that occur most often in a text, the most frequent first; of equals, the lower id.
inline std::vector<Token> most_frequent(const Sentences& text, Index count) {
  std::vector<std::pair<Index, Token>> counts;  // negative, so that the smallest is the most frequent
  for (const Token token : text.tokens) {
    require(token >= 0, "most_frequent: ", token, " is no id; ids are not negative");
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

/// Which target words a translation can be made of, so that a decoder computes the scores of these alone: those that are
/// always needed (special tokens, frequent words), and for each source word its most probable translations.
class Shortlist {
 public:
  /// `always`: ids in any order; `for_each_word`: how many translations of a source word.
  Shortlist(const LexicalTable& table, std::vector<Token> always, Index for_each_word) : always_(std::move(always)) {
    require(for_each_word >= 0, "Shortlist: ", for_each_word, " translations of a word are not 0 or more");
    sort_once(always_);
    for (Token source = 0; source < table.source_words(); ++source) {
      const std::vector<Token> best = table.best(source, for_each_word);
      translations_.insert(translations_.end(), best.begin(), best.end());
      offsets_.push_back(std::ssize(translations_));
    }
  }

  /// The ids for a sentence, or for all tokens of a batch of them: rising, each once.
  std::vector<Token> operator()(std::span<const Token> source) const {
    std::vector<Token> ids = always_;
    for (const Token word : source) {
      const std::span<const Token> best = of_word(word);
      ids.insert(ids.end(), best.begin(), best.end());
    }
    sort_once(ids);
    return ids;
  }

  /// The translations of a source word, the most probable first; none for a word that the table does not know.
  std::span<const Token> of_word(Token word) const {
    if (word < 0 || word + 1 >= std::ssize(offsets_)) return {};
    const auto begin = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(word)]);
    return std::span(translations_)
        .subspan(begin, static_cast<std::size_t>(offsets_[static_cast<std::size_t>(word) + 1]) - begin);
  }

 private:
  static void sort_once(std::vector<Token>& ids) {
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }

  std::vector<Token> always_, translations_;
  std::vector<Index> offsets_{0};
};

}  // namespace attn
