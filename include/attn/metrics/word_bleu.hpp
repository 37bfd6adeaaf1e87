#pragma once
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/metrics/bleu.hpp"

namespace attn {

// BLEU on words between white space, 0 to 100, as two programs compute it that papers quote. Neither smooths: without a
// single match of some order the score is 0.

namespace detail {

/// What both do, except for how many n-grams a sentence of too few words counts for.
inline double word_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
                        Index fewest_ngrams) {
  require(hypotheses.size() == references.size(), "word_bleu: ", hypotheses.size(), " hypotheses but ", references.size(),
          " references; give one reference for each hypothesis, in the same order");
  require(!hypotheses.empty(), "word_bleu: there are no sentences to score; give at least one");
  Index produced = 0, wanted = 0;
  std::array<Index, 4> matches{}, totals{};
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const auto hypothesis = split_words(hypotheses[i]), reference = split_words(references[i]);
    produced += std::ssize(hypothesis);
    wanted += std::ssize(reference);
    for (std::size_t n = 1; n <= 4; ++n) {
      matches[n - 1] += shared_ngrams(hypothesis, reference, n);
      totals[n - 1] += std::max<Index>(fewest_ngrams, std::ssize(hypothesis) - static_cast<Index>(n) + 1);
    }
  }
  double sum_of_logs = 0;
  for (std::size_t n = 0; n < 4; ++n) {
    if (matches[n] == 0) return 0;
    sum_of_logs += std::log(static_cast<double>(matches[n]) / static_cast<double>(totals[n]));
  }
  const double short_by = produced < wanted ? 1 - static_cast<double>(wanted) / static_cast<double>(produced) : 0;
  return 100 * std::exp(short_by + sum_of_logs / 4);
}

inline std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace detail

/// Moses' multi-bleu.perl; with lower_case its -lc, which, as Perl without a locale, knows ASCII's capitals only.
inline double multi_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
                         bool lower_case = false) {
  if (!lower_case) return detail::word_bleu(hypotheses, references, 0);
  std::vector<std::string> lower[2];
  for (const std::string& line : hypotheses) lower[0].push_back(detail::ascii_lower(line));
  for (const std::string& line : references) lower[1].push_back(detail::ascii_lower(line));
  return detail::word_bleu(lower[0], lower[1], 0);
}

/// NLTK's corpus_bleu: a sentence that is too short for an n-gram counts as one that did not match.
inline double nltk_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references) {
  return detail::word_bleu(hypotheses, references, 1);
}

}  // namespace attn
