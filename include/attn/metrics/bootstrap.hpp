#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "attn/metrics/corpus_metric.hpp"
#include "attn/metrics/pcg64.hpp"

namespace attn {

// Bootstrap resampling (Koehn 2004) as sacreBLEU 2.6 does it under numpy 2: the same draws, the same precision of every
// sum, the same order of statistics, so that means, intervals and p-values are the same numbers.

struct BootstrapOptions {
  Index samples = 1000;
  std::uint64_t seed = 12345;  // sacreBLEU's, unless SACREBLEU_SEED says otherwise
};

/// Scores of resampled texts, each of as many sentences as the text, drawn with replacement. Two texts of as many sentences
/// are drawn alike.
struct Resampled {
  std::vector<double> scores;
  bool is_float = true;  // all of them were computed in float: their statistics are, too
};

/// The mean of resampled scores, and half the width of the range that holds 95 % of them.
struct Confidence {
  double mean = 0, interval = 0;
};

inline Resampled resample(const CorpusMetric& metric, const CountedText& text, const BootstrapOptions& options) {
  require(options.samples > 0, "bootstrap: ", options.samples, " samples say nothing; take 1000");
  const std::vector<float> rows(text.rows.begin(), text.rows.end());
  const auto width = static_cast<std::size_t>(text.width());
  Pcg64 random(options.seed);
  Resampled resampled;
  std::vector<float> sums(width);
  for (Index i = 0; i < options.samples; ++i) {
    std::ranges::fill(sums, 0.0F);
    for (Index drawn = 0; drawn < text.sentences(); ++drawn) {
      const float* const row = rows.data() + random.below(text.sentences()) * text.width();
      for (std::size_t k = 0; k < width; ++k) sums[k] += row[k];
    }
    const CorpusMetric::Sample sample = metric.sample(sums);
    resampled.scores.push_back(sample.score);
    resampled.is_float = resampled.is_float && sample.is_float;
  }
  return resampled;
}

namespace detail {

/// numpy's sum of an array: blocks of up to 128 numbers in eight partial sums, blocks in pairs.
template <class Real>
Real pairwise_sum(const Real* values, std::size_t count) {
  if (count < 8) {
    Real sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += values[i];
    return sum;
  }
  if (count > 128) {
    const std::size_t half = count / 2 - count / 2 % 8;
    return pairwise_sum(values, half) + pairwise_sum(values + half, count - half);
  }
  Real parts[8];
  std::copy_n(values, 8, parts);
  std::size_t i = 8;
  for (; i + 8 <= count; i += 8)
    for (std::size_t k = 0; k < 8; ++k) parts[k] += values[i + k];
  Real sum = ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
  for (; i < count; ++i) sum += values[i];
  return sum;
}

/// numpy's mean.
template <class Real>
Real pairwise_mean(const std::vector<Real>& values) {
  return static_cast<Real>(static_cast<double>(pairwise_sum(values.data(), values.size())) /
                           static_cast<double>(values.size()));
}

inline double mean_of(const std::vector<double>& values, bool is_float) {
  if (is_float) return pairwise_mean(std::vector<float>(values.begin(), values.end()));
  return pairwise_mean(values);
}

inline double rounded(double value, bool to_float) { return to_float ? static_cast<float>(value) : value; }

inline double interval_of(const std::vector<double>& sorted, bool is_float) {
  const std::size_t low = sorted.size() / 40, high = sorted.size() - low - 1;
  return 0.5 * rounded(sorted[high] - sorted[low], is_float);
}

}  // namespace detail

/// As sacreBLEU's table of several systems has it.
inline Confidence confidence(Resampled resampled) {
  std::ranges::sort(resampled.scores);
  return {detail::mean_of(resampled.scores, resampled.is_float), detail::interval_of(resampled.scores, resampled.is_float)};
}

/// As sacreBLEU prints it beside the score of a single system, where its mean is exact.
inline Confidence exact_confidence(Resampled resampled) {
  std::ranges::sort(resampled.scores);
  long double sum = 0;
  for (const double score : resampled.scores) sum += score;
  const auto mean = static_cast<double>(sum / static_cast<long double>(resampled.scores.size()));
  return {detail::rounded(mean, resampled.is_float), detail::interval_of(resampled.scores, resampled.is_float)};
}

/// How likely it is that two systems which are equally good differ by `difference` (of their scores of the whole text, not
/// negative) or more: the share of samples whose difference exceeds the samples' mean difference by more than that.
inline double paired_p_value(const Resampled& system, const Resampled& baseline, double difference) {
  require(system.scores.size() == baseline.scores.size(), "paired_p_value: ", system.scores.size(), " samples and ",
          baseline.scores.size(), " do not pair");
  const bool is_float = system.is_float && baseline.is_float;
  std::vector<double> differences;
  for (std::size_t i = 0; i < system.scores.size(); ++i)
    differences.push_back(std::abs(detail::rounded(system.scores[i] - baseline.scores[i], is_float)));
  const double mean = detail::mean_of(differences, is_float), real = detail::rounded(difference, is_float);
  const auto exceed =
      std::ranges::count_if(differences, [&](double sample) { return detail::rounded(sample - mean, is_float) > real; });
  return static_cast<double>(exceed + 1) / static_cast<double>(differences.size() + 1);
}

}  // namespace attn
