#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"
#include "attn/metrics/tokenize_13a.hpp"
#include "attn/version.hpp"

namespace attn {

/// Corpus BLEU (Papineni et al., 2002) as sacreBLEU 2.6 computes it by default: the geometric mean of the n-gram precisions
/// for n = 1 to 4, times a penalty for being too short. Entry n - 1 of an array belongs to n-grams.
struct Bleu {
  double score = 0;  // 0 to 100
  std::array<double, 4> precisions{};
  double brevity_penalty = 1;
  Index hypothesis_length = 0, reference_length = 0;
  std::array<Index, 4> matches{}, totals{};

  /// One line, as sacreBLEU prints it.
  std::string to_string() const {
    const double ratio =
        reference_length ? static_cast<double>(hypothesis_length) / static_cast<double>(reference_length) : 0;
    const auto format = [&](char* out, std::size_t size) {
      return std::snprintf(out, size,
                           "BLEU = %.2f %.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %lld ref_len = %lld)", score,
                           precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, ratio,
                           static_cast<long long>(hypothesis_length), static_cast<long long>(reference_length));
    };
    std::string line(static_cast<std::size_t>(format(nullptr, 0)), ' ');
    format(line.data(), line.size() + 1);
    return line;
  }

  /// How the score was computed, as sacreBLEU writes it, to be quoted beside the score. The version field names the program
  /// that computed it: sacreBLEU puts its own version there, so ours says attn and attn's.
  std::string signature() const { return "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:attn-" ATTN_VERSION; }
};

namespace detail {

/// How many n-grams two sentences share, each counted as often as both have it: the size of the intersection of multisets.
inline Index shared_ngrams(std::span<const std::string> a, std::span<const std::string> b, std::size_t n) {
  using Ngram = std::span<const std::string>;
  const auto less = [](Ngram x, Ngram y) { return std::ranges::lexicographical_compare(x, y); };
  const auto sorted_ngrams = [&](std::span<const std::string> words) {
    std::vector<Ngram> ngrams;
    for (std::size_t i = 0; i + n <= words.size(); ++i) ngrams.push_back(words.subspan(i, n));
    std::ranges::sort(ngrams, less);
    return ngrams;
  };
  std::vector<Ngram> shared;
  std::ranges::set_intersection(sorted_ngrams(a), sorted_ngrams(b), std::back_inserter(shared), less);
  return std::ssize(shared);
}

}  // namespace detail

/// BLEU from the counts alone, so that counts summed over parts of a corpus give the score of the whole.
inline Bleu bleu_of_counts(const std::array<Index, 4>& matches, const std::array<Index, 4>& totals, Index hypothesis_length,
                           Index reference_length) {
  Bleu bleu{
      .hypothesis_length = hypothesis_length, .reference_length = reference_length, .matches = matches, .totals = totals};
  const auto produced = static_cast<double>(hypothesis_length), wanted = static_cast<double>(reference_length);
  if (produced < wanted) bleu.brevity_penalty = produced > 0 ? std::exp(1 - wanted / produced) : 0;
  if (std::ranges::count(matches, 0) == 4) return bleu;

  double smoothing = 1, sum_of_logs = 0;
  for (std::size_t n = 0; n < 4 && totals[n] > 0; ++n) {
    const auto total = static_cast<double>(totals[n]);
    if (matches[n] == 0) smoothing *= 2;  // the first order without a match gets 1/2 of one, the next 1/4 ...
    bleu.precisions[n] = matches[n] == 0 ? 100 / (smoothing * total) : 100 * static_cast<double>(matches[n]) / total;
  }
  for (const double precision : bleu.precisions) sum_of_logs += precision > 0 ? std::log(precision) : -9999999999.0;
  bleu.score = bleu.brevity_penalty * std::exp(sum_of_logs / 4);
  return bleu;
}

/// BLEU of a corpus with one reference a sentence: 13a tokens, case kept, exponential smoothing.
inline Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references) {
  require(hypotheses.size() == references.size(), "corpus_bleu: ", hypotheses.size(), " hypotheses but ", references.size(),
          " references; give one reference for each hypothesis, in the same order");
  require(!hypotheses.empty(), "corpus_bleu: there are no sentences to score; give at least one");

  std::array<Index, 4> matches{}, totals{};
  Index hypothesis_length = 0, reference_length = 0;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const std::vector<std::string> hypothesis = tokenize_13a(hypotheses[i]), reference = tokenize_13a(references[i]);
    hypothesis_length += std::ssize(hypothesis);
    reference_length += std::ssize(reference);
    for (std::size_t n = 1; n <= 4; ++n) {
      matches[n - 1] += detail::shared_ngrams(hypothesis, reference, n);
      totals[n - 1] += std::max<Index>(0, std::ssize(hypothesis) - static_cast<Index>(n) + 1);
    }
  }
  return bleu_of_counts(matches, totals, hypothesis_length, reference_length);
}

}  // namespace attn
