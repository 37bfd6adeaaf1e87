#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/metrics/bleu.hpp"
#include "attn/metrics/chrf.hpp"
#include "attn/metrics/word_bleu.hpp"

namespace attn {

/// A metric by its name: it adds counts up over sentences and computes a score from the sums, so that resampled sentences
/// can be scored as well (metrics/bootstrap.hpp).
class CorpusMetric {
 public:
  /// A score of resampled sentences. sacreBLEU computes chrF of them in float, unless nothing matches.
  struct Sample {
    double score = 0;
    bool is_float = false;
  };

  virtual ~CorpusMetric() = default;
  virtual std::string name() const = 0;  // as it is printed
  /// How it is computed, without the version; empty where nobody defined a signature.
  virtual std::string signature_fields() const { return ""; }
  /// Counts of a sentence: as many numbers for every sentence.
  virtual std::vector<Index> counts(const std::string& hypothesis, std::span<const std::string> references) const = 0;
  virtual double score(std::span<const Index> sums) const = 0;
  virtual Sample sample(std::span<const float> sums) const = 0;
  /// What is printed after the score.
  virtual std::string details(std::span<const Index> /*sums*/) const { return ""; }
};

namespace detail {

/// BLEU's counts in a row, and back.
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

class BleuMetric final : public CorpusMetric {
 public:
  std::string name() const override { return "BLEU"; }
  std::string signature_fields() const override { return Bleu::signature_fields; }
  std::vector<Index> counts(const std::string& hypothesis, std::span<const std::string> references) const override {
    return flat(bleu_counts(hypothesis, references));
  }
  double score(std::span<const Index> sums) const override { return bleu_of_counts(bleu_sums(sums)).score; }
  Sample sample(std::span<const float> sums) const override { return {bleu_of_counts(bleu_sums(sums)).score}; }
  std::string details(std::span<const Index> sums) const override { return bleu_of_counts(bleu_sums(sums)).details(); }
};

class ChrfMetric final : public CorpusMetric {
 public:
  explicit ChrfMetric(ChrfWords words) : words_(words) {}
  std::string name() const override { return Chrf{.words = words_}.name(); }
  std::string signature_fields() const override { return Chrf{.words = words_}.signature_fields(); }
  std::vector<Index> counts(const std::string& hypothesis, std::span<const std::string> references) const override {
    const ChrfCounts counts = chrf_counts(hypothesis, references, words_);
    return {counts[0].data(), counts[0].data() + 3 * counts.size()};
  }
  double score(std::span<const Index> sums) const override { return chrf_of_counts(from(sums)); }
  Sample sample(std::span<const float> sums) const override {
    const float score = chrf_of_counts(from(sums));
    return {score, score > 0};
  }

 private:
  template <class Real>
  static ChrfSums<Real> from(std::span<const Real> row) {
    ChrfSums<Real> sums{};
    for (std::size_t i = 0; i < row.size(); ++i) sums[i / 3][i % 3] = row[i];
    return sums;
  }
  ChrfWords words_;
};

class WordBleuMetric final : public CorpusMetric {
 public:
  explicit WordBleuMetric(WordBleu kind) : kind_(kind) {}
  std::string name() const override {
    return kind_ == WordBleu::nltk ? "NLTK" : kind_ == WordBleu::multi_bleu ? "multi-bleu" : "multi-bleu -lc";
  }
  std::vector<Index> counts(const std::string& hypothesis, std::span<const std::string> references) const override {
    return flat(word_bleu_counts(kind_, hypothesis, references));
  }
  double score(std::span<const Index> sums) const override { return word_bleu_of_counts(bleu_sums(sums)); }
  Sample sample(std::span<const float> sums) const override { return {word_bleu_of_counts(bleu_sums(sums))}; }

 private:
  WordBleu kind_;
};

}  // namespace detail

/// Names that corpus_metric knows.
inline constexpr std::string_view corpus_metric_names[] = {"bleu", "chrf", "chrf++", "multi-bleu", "multi-bleu-lc", "nltk"};

/// The metric of this name.
inline std::unique_ptr<CorpusMetric> corpus_metric(std::string_view name) {
  if (name == "bleu") return std::make_unique<detail::BleuMetric>();
  if (name == "chrf") return std::make_unique<detail::ChrfMetric>(ChrfWords::none);
  if (name == "chrf++") return std::make_unique<detail::ChrfMetric>(ChrfWords::pairs);
  if (name == "multi-bleu") return std::make_unique<detail::WordBleuMetric>(WordBleu::multi_bleu);
  if (name == "multi-bleu-lc") return std::make_unique<detail::WordBleuMetric>(WordBleu::multi_bleu_lower_case);
  if (name == "nltk") return std::make_unique<detail::WordBleuMetric>(WordBleu::nltk);
  std::string known;
  for (const std::string_view each : corpus_metric_names) known.append(known.empty() ? "" : ", ").append(each);
  fail("there is no metric '", name, "'; choose among ", known);
}

/// A text's counts, a row a sentence, and their sums.
struct CountedText {
  std::vector<Index> rows, sums;

  Index width() const { return std::ssize(sums); }
  Index sentences() const { return std::ssize(rows) / width(); }
};

/// Counts hypotheses. Each element of `references` is a text of as many sentences as there are hypotheses.
inline CountedText counted(const CorpusMetric& metric, std::span<const std::string> hypotheses,
                           std::span<const std::vector<std::string>> references) {
  CountedText text;
  detail::for_each_scored(metric.name().c_str(), hypotheses, references, [&](const std::string& hypothesis, auto& wanted) {
    const std::vector<Index> row = metric.counts(hypothesis, wanted);
    text.rows.insert(text.rows.end(), row.begin(), row.end());
    text.sums.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) text.sums[i] += row[i];
  });
  return text;
}

}  // namespace attn
