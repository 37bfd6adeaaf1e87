#pragma once
#include "attn/align/lexical_table.hpp"
#include "attn/data/word_alignments.hpp"

namespace attn {

/// The most probable alignment by a lexical table. Links each target word to the source word of highest t, unless the empty
/// word has at least that t. Among equal t, as for repeated words, the source word nearest the diagonal wins, then the
/// earlier one.
inline std::vector<WordLink> viterbi_alignment(const LexicalTable& table, std::span<const Token> source,
                                               std::span<const Token> target) {
  std::vector<WordLink> links;
  const Index source_words = std::ssize(source), target_words = std::ssize(target);
  for (Index j = 0; j < target_words; ++j) {
    const Token word = target[static_cast<std::size_t>(j)];
    const auto off_diagonal = [&](Index i) {  // between word centres, times 2 * both lengths to stay in integers
      return std::abs((2 * i + 1) * target_words - (2 * j + 1) * source_words);
    };
    double highest = table.probability(table.empty_word(), word);
    Index best = -1;
    for (Index i = 0; i < source_words; ++i) {
      const double t = table.probability(source[static_cast<std::size_t>(i)], word);
      if (t > highest || (t == highest && best >= 0 && off_diagonal(i) < off_diagonal(best))) highest = t, best = i;
    }
    if (best >= 0) links.push_back({best, j});
  }
  return links;
}

}  // namespace attn
