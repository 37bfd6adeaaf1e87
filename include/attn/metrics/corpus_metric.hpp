#pragma once
#include "attn/metrics/bleu.hpp"
#include "attn/metrics/chrf.hpp"
#include "attn/metrics/word_bleu.hpp"

namespace attn {

/// A corpus metric. The score is a function of counts summed over sentences, so resampled sentences can be scored too.
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

/// A metric from counts(hypothesis, references), which returns Sums<Index>, and score(Sums<Real>).
template <template <class> class Sums>
CorpusMetric metric_of(std::string name, std::string signature_fields, auto counts, auto score) {
  const auto row_counts = [counts](const std::string& hypothesis, std::span<const std::string> references) {
    const auto row = flat<Index>(counts(hypothesis, references));
    return std::vector<Index>(row.begin(), row.end());
  };
  const auto row_score = [score](auto row) { return score(sums_of<Sums>(row)); };
  const auto sample = [row_score](std::span<const float> sums) {
    const auto found = row_score(sums);
    return CorpusMetric::Sample{found, std::is_same_v<decltype(found), const float> && found > 0};
  };
  return {.name = std::move(name),
          .signature_fields = std::move(signature_fields),
          .counts = row_counts,
          .score = row_score,
          .sample = sample};
}

inline CorpusMetric bleu_metric() {
  const auto score = [](const auto& sums) { return bleu_of_counts(sums).score; };
  CorpusMetric metric = metric_of<BleuSums>("BLEU", Bleu::signature_fields, bleu_counts, score);
  metric.details = [](auto sums) { return bleu_of_counts(sums_of<BleuSums>(sums)).details(); };
  return metric;
}

inline CorpusMetric chrf_metric(ChrfWords words) {
  const Chrf chrf{.words = words};
  const auto counts = [words](const auto& text, auto references) { return chrf_counts(text, references, words); };
  const auto score = [](const auto& sums) { return chrf_of_counts(sums); };
  return metric_of<ChrfSums>(chrf.name(), chrf.signature_fields(), counts, score);
}

inline CorpusMetric word_bleu_metric(WordBleu kind, const char* name) {
  const auto counts = [kind](const auto& text, auto references) { return word_bleu_counts(kind, text, references); };
  const auto score = [](const auto& sums) { return word_bleu_of_counts(sums); };
  return metric_of<BleuSums>(name, "", counts, score);
}

}  // namespace detail

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

/// Counts all hypotheses. Each element of `references` has one sentence per hypothesis.
inline CountedText counted(const CorpusMetric& metric, std::span<const std::string> hypotheses,
                           std::span<const std::vector<std::string>> references) {
  return detail::count_text(metric.name.c_str(), hypotheses, references, metric.counts);
}

}  // namespace attn
