#pragma once
#include "attn/core/format_count.hpp"
#include "attn/data/word_alignments.hpp"

namespace attn {

/// Alignment error rate (Och and Ney 2003) of links A against sure gold links S and possible gold links P. All are sets,
/// and S is a subset of P. Counts are summed over sentences before dividing:
///
///     AER = 1 - (|A and S| + |A and P|) / (|A| + |S|)
///
/// precision = |A and P| / |A|,  recall = |A and S| / |S|. 0 is perfect.
struct AlignmentError {
  Index links = 0, sure = 0;                   // |A|, |S|
  Index links_in_sure = 0, links_in_gold = 0;  // |A and S|, |A and P|

  /// Adds one sentence pair.
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
  /// With nothing to find, nothing is missed: 0 / 0 counts as 1.
  static double ratio(Index part, Index whole) {
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

/// The error over several sentence pairs. Does not check that gold links are inside the sentences: see require_within.
inline AlignmentError alignment_error(std::span<const std::vector<WordLink>> alignments,
                                      std::span<const GoldAlignment> gold) {
  require(alignments.size() == gold.size(), "alignment_error: ", alignments.size(), " alignments, but ", gold.size(),
          " gold alignments. Pass one per pair of sentences.");
  AlignmentError error;
  for (std::size_t i = 0; i < gold.size(); ++i) error.add(alignments[i], gold[i]);
  return error;
}

/// Throws if a gold link names a word beyond the end of its sentence. Then the files do not match, or the links name the
/// target word first.
inline void require_within(const GoldAlignment& gold, Index source_words, Index target_words, Index line) {
  for (const WordLink& link : gold.possible)
    require(link.source < source_words && link.target < target_words, "the gold alignment of line ", line,
            " links source word ", link.source + 1, " and target word ", link.target + 1, ", but the sentences have ",
            source_words, " and ", counted(target_words, "word"),
            ". Check that the files match and that links name the source word first.");
}

}  // namespace attn
