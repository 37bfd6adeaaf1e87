#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/format_count.hpp"
#include "attn/data/word_alignments.hpp"

namespace attn {

/// How far the links A of an alignment are from what people agreed on, S, and from what they hold possible, P (Och and Ney
/// 2003); all three are sets, S is part of P, and sentences add up before anything is divided:
///
///     AER = 1 - (|A and S| + |A and P|) / (|A| + |S|)
///
/// precision = |A and P| / |A|,  recall = |A and S| / |S|. 0 is perfect.
struct AlignmentError {
  Index links = 0, sure = 0;                   // |A|, |S|
  Index links_in_sure = 0, links_in_gold = 0;  // |A and S|, |A and P|

  /// Adds a sentence pair.
  void add(std::vector<WordLink> alignment, const GoldAlignment& gold) {
    std::sort(alignment.begin(), alignment.end());
    alignment.erase(std::unique(alignment.begin(), alignment.end()), alignment.end());
    links += static_cast<Index>(alignment.size());
    sure += static_cast<Index>(gold.sure.size());
    for (const WordLink& link : alignment) {
      links_in_sure += std::binary_search(gold.sure.begin(), gold.sure.end(), link);
      links_in_gold += std::binary_search(gold.possible.begin(), gold.possible.end(), link);
    }
  }

  double rate() const { return 1 - ratio(links_in_sure + links_in_gold, links + sure); }
  double precision() const { return ratio(links_in_gold, links); }
  double recall() const { return ratio(links_in_sure, sure); }

 private:
  /// Where nothing was to be found and nothing was, all of it was found.
  static double ratio(Index part, Index whole) {
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

/// The error of alignments of several sentence pairs. A gold link beyond the end of a sentence is not looked for here: see
/// require_within.
inline AlignmentError alignment_error(std::span<const std::vector<WordLink>> alignments,
                                      std::span<const GoldAlignment> gold) {
  require(alignments.size() == gold.size(), "alignment_error: ", alignments.size(), " alignments do not pair with ",
          gold.size(), " gold ones");
  AlignmentError error;
  for (std::size_t i = 0; i < gold.size(); ++i) error.add(alignments[i], gold[i]);
  return error;
}

/// Refuses a gold alignment that names words which a sentence pair of so many words does not have: its files do not belong
/// together, or its links name the other language first.
inline void require_within(const GoldAlignment& gold, Index source_words, Index target_words, Index line) {
  for (const WordLink& link : gold.possible)
    require(link.source < source_words && link.target < target_words, "the gold alignment of line ", line, " links word ",
            link.source + 1, " of the source with word ", link.target + 1, " of the target, but they have ", source_words,
            " and ", counted(target_words, "word"),
            "; do the files belong together, and do links name the source's word first?");
}

}  // namespace attn
