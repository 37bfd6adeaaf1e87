#pragma once
#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/metrics/bleu.hpp"
#include "attn/metrics/chrf.hpp"
#include "attn/metrics/word_bleu.hpp"

namespace attn {

/// A corpus metric, selected by name. The score is a function of counts summed over sentences, so resampled sentences can
/// be scored too (metrics/bootstrap.hpp).
struct CorpusMetric {
  /// The score of a resample. sacreBLEU computes chrF in float here, unless nothing matches.
  struct Sample {
    double score = 0;
    bool is_float = false;
  };

  std::string name;                // display name
  std::string signature_fields{};  // the signature without the version; empty if the metric has none
  /// Counts of one sentence. The size is the same for every sentence.
  std::function<std::vector<Index>(const std::string& hypothesis, std::span<const std::string> references)> counts;
  std::function<double(std::span<const Index> sums)> score;
  std::function<Sample(std::span<const float> sums)> sample;
  /// Text to print after the score.
  std::function<std::string(std::span<const Index> sums)> details = [](std::span<const Index>) { return ""; };
};

namespace detail {

/// Converts BLEU counts to a flat vector, and back.
inline std::vector<Index> flat(const BleuCounts& counts) {
  std::vector<Index> row{counts.hypothesis_length, counts.reference_length};
  row.insert(row.end(), counts.matches.begin(), counts.matches.end());
  row.insert(row.end(), counts.totals.begin(), counts.totals.end());
  return row;
}
template <class Real>
BleuSums<Real> bleu_sums(std::span<const Real> row) {
  BleuSums<Real> sums{.hypothesis_length = row[0], .reference_length = row[1]};
  std::copy_n(row.begin() + 2, 4, sums.matches.begin());
  std::copy_n(row.begin() + 6, 4, sums.totals.begin());
  return sums;
}

inline CorpusMetric bleu_metric() {
  return {.name = "BLEU",
          .signature_fields = Bleu::signature_fields,
          .counts = [](const auto& hypothesis, auto references) { return flat(bleu_counts(hypothesis, references)); },
          .score = [](auto sums) { return bleu_of_counts(bleu_sums(sums)).score; },
          .sample = [](auto sums) { return CorpusMetric::Sample{bleu_of_counts(bleu_sums(sums)).score}; },
          .details = [](auto sums) { return bleu_of_counts(bleu_sums(sums)).details(); }};
}

inline CorpusMetric chrf_metric(ChrfWords words) {
  const auto counts = [words](const std::string& hypothesis, std::span<const std::string> references) {
    const ChrfCounts found = chrf_counts(hypothesis, references, words);
    return std::vector<Index>(found[0].data(), found[0].data() + 3 * found.size());
  };
  const auto score = []<class Real>(std::span<const Real> row) {
    ChrfSums<Real> sums{};
    for (std::size_t i = 0; i < row.size(); ++i) sums[i / 3][i % 3] = row[i];
    return chrf_of_counts(sums);
  };
  const auto sample = [score](std::span<const float> sums) {
    const float of_sums = score(sums);
    return CorpusMetric::Sample{of_sums, of_sums > 0};
  };
  const Chrf chrf{.words = words};
  return {
      .name = chrf.name(), .signature_fields = chrf.signature_fields(), .counts = counts, .score = score, .sample = sample};
}

inline CorpusMetric word_bleu_metric(WordBleu kind, const char* name) {
  return {.name = name,
          .counts = [kind](const auto& text, auto references) { return flat(word_bleu_counts(kind, text, references)); },
          .score = [](auto sums) { return word_bleu_of_counts(bleu_sums(sums)); },
          .sample = [](auto sums) { return CorpusMetric::Sample{word_bleu_of_counts(bleu_sums(sums))}; }};
}

}  // namespace detail

/// Names accepted by corpus_metric.
inline constexpr std::string_view corpus_metric_names[] = {"bleu", "chrf", "chrf++", "multi-bleu", "multi-bleu-lc", "nltk"};

/// The metric with this name. Throws for unknown names.
inline CorpusMetric corpus_metric(std::string_view name) {
  if (name == "bleu") return detail::bleu_metric();
  if (name == "chrf") return detail::chrf_metric(ChrfWords::none);
  if (name == "chrf++") return detail::chrf_metric(ChrfWords::pairs);
  if (name == "multi-bleu") return detail::word_bleu_metric(WordBleu::multi_bleu, "multi-bleu");
  if (name == "multi-bleu-lc") return detail::word_bleu_metric(WordBleu::multi_bleu_lower_case, "multi-bleu -lc");
  if (name == "nltk") return detail::word_bleu_metric(WordBleu::nltk, "NLTK");
  std::string known;
  for (const std::string_view each : corpus_metric_names) known.append(known.empty() ? "" : ", ").append(each);
  fail("unknown metric '", name, "'. Use one of ", known);
}

/// The counts of a text, one row per sentence, and their sums.
struct CountedText {
  std::vector<Index> rows, sums;

  Index width() const { return std::ssize(sums); }
  Index sentences() const { return std::ssize(rows) / width(); }
};

/// Counts all hypotheses. Each element of `references` has one sentence per hypothesis.
inline CountedText counted(const CorpusMetric& metric, std::span<const std::string> hypotheses,
                           std::span<const std::vector<std::string>> references) {
  CountedText text;
  detail::for_each_scored(metric.name.c_str(), hypotheses, references, [&](const std::string& hypothesis, auto& wanted) {
    const std::vector<Index> row = metric.counts(hypothesis, wanted);
    text.rows.insert(text.rows.end(), row.begin(), row.end());
    text.sums.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) text.sums[i] += row[i];
  });
  return text;
}

}  // namespace attn
