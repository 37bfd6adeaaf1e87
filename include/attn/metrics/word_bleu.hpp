#pragma once
#include "attn/metrics/bleu.hpp"

namespace attn {

/// BLEU of white-space-separated words, 0 to 100, compatible with two programs that papers quote. Splits at ASCII white
/// space for Moses, at Unicode's for NLTK. Neither smooths: without a match in some order the score is 0.
enum class WordBleu {
  multi_bleu,             // Moses' multi-bleu.perl
  multi_bleu_lower_case,  // multi-bleu.perl -lc: lower-cases ASCII only, as Perl does without a locale
  nltk                    // NLTK's corpus_bleu: a sentence too short for an n-gram counts one n-gram without a match
};

inline BleuCounts word_bleu_counts(WordBleu kind, const std::string& hypothesis, std::span<const std::string> references) {
  const auto split = [&](std::string line) {
    if (kind == WordBleu::nltk) return detail::split_words(line);
    if (kind == WordBleu::multi_bleu_lower_case) std::ranges::transform(line, line.begin(), unicode::ascii_lower);
    return detail::split_words<unicode::is_ascii_space>(line);
  };
  return detail::count_words(hypothesis, references, split, kind == WordBleu::nltk ? 1 : 0);
}

template <class Count>
double word_bleu_of_counts(const BleuSums<Count>& sums) {
  double sum_of_logs = 0;
  for (std::size_t n = 0; n < 4; ++n) {
    if (sums.matches[n] == 0) return 0;
    sum_of_logs += std::log(static_cast<double>(sums.matches[n]) / static_cast<double>(sums.totals[n]));
  }
  const auto produced = static_cast<double>(sums.hypothesis_length), wanted = static_cast<double>(sums.reference_length);
  return 100 * std::exp((produced < wanted ? 1 - wanted / produced : 0) + sum_of_logs / 4);
}

/// The score of a corpus. Each element of `references` has one sentence per hypothesis.
inline double word_bleu(WordBleu kind, std::span<const std::string> hypotheses,
                        std::span<const std::vector<std::string>> references) {
  const auto counts = [kind](const auto& hypothesis, auto& wanted) { return word_bleu_counts(kind, hypothesis, wanted); };
  return word_bleu_of_counts(detail::sum_counts<BleuSums>("word_bleu", hypotheses, references, counts));
}

/// Moses' multi-bleu.perl with one reference per sentence.
inline double multi_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
                         bool lower_case = false) {
  const WordBleu kind = lower_case ? WordBleu::multi_bleu_lower_case : WordBleu::multi_bleu;
  return word_bleu(kind, hypotheses, detail::one_text(references));
}

/// NLTK's corpus_bleu with one reference per sentence.
inline double nltk_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references) {
  return word_bleu(WordBleu::nltk, hypotheses, detail::one_text(references));
}

}  // namespace attn
