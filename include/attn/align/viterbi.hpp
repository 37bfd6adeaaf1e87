#pragma once
#include <cmath>
#include <span>
#include <vector>

#include "attn/align/lexical_table.hpp"
#include "attn/data/word_alignments.hpp"

namespace attn {

/// The most probable alignment by a lexical table: each target word with the source word of the highest t, or alone where
/// the empty word's is higher, or where it never met any of the source's. Of source words with the same t, which a repeated
/// word has, the one nearest to the diagonal is taken, and of two as near the earlier.
inline std::vector<WordLink> viterbi_alignment(const LexicalTable& table, std::span<const Token> source,
                                               std::span<const Token> target) {
  std::vector<WordLink> links;
  const Index source_words = std::ssize(source), target_words = std::ssize(target);
  for (Index j = 0; j < target_words; ++j) {
    const Token word = target[static_cast<std::size_t>(j)];
    const auto off_diagonal = [&](Index i) {  // of the middles of both words, times twice both lengths: whole numbers
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
