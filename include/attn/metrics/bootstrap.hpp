#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "attn/metrics/corpus_metric.hpp"
#include "attn/metrics/pcg64.hpp"

namespace attn {

// Bootstrap resampling (Koehn 2004), bit-compatible with sacreBLEU 2.6 under numpy 2: same draws, same precision of every
// sum and same order of operations, so means, intervals and p-values are identical.

struct BootstrapOptions {
  Index samples = 1000;
  std::uint64_t seed = 12345;  // sacreBLEU's default, which SACREBLEU_SEED overrides there
};

/// Scores of resampled texts. Each sample draws as many sentences as the text has, with replacement. Texts of equal length
/// get the same draws.
struct Resampled {
  std::vector<double> scores;
  bool is_float = true;  // all scores are float, so their statistics are too
};

/// The mean of the resampled scores, and half the width of their 95 % confidence interval.
struct Confidence {
  double mean = 0, interval = 0;
};

inline Resampled resample(const CorpusMetric& metric, const CountedText& text, const BootstrapOptions& options) {
  require(options.samples > 0, "bootstrap: samples is ", options.samples, ", but must be at least 1. 1000 is usual.");
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

/// numpy's pairwise summation: blocks of up to 128 numbers in eight partial sums, blocks added in pairs.
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

/// The interval in sacreBLEU's table of several systems.
inline Confidence confidence(Resampled resampled) {
  std::ranges::sort(resampled.scores);
  return {detail::mean_of(resampled.scores, resampled.is_float), detail::interval_of(resampled.scores, resampled.is_float)};
}

/// The interval that sacreBLEU prints with a single score, which uses an exact mean.
inline Confidence exact_confidence(Resampled resampled) {
  std::ranges::sort(resampled.scores);
  long double sum = 0;
  for (const double score : resampled.scores) sum += score;
  const auto mean = static_cast<double>(sum / static_cast<long double>(resampled.scores.size()));
  return {detail::rounded(mean, resampled.is_float), detail::interval_of(resampled.scores, resampled.is_float)};
}

/// The p-value of the paired bootstrap test: the probability that two equally good systems differ by `difference`
/// (non-negative, of the full-text scores) or more. Estimated as the fraction of samples whose difference exceeds the mean
/// difference by more.
inline double paired_p_value(const Resampled& system, const Resampled& baseline, double difference) {
  require(system.scores.size() == baseline.scores.size(), "paired_p_value: ", system.scores.size(),
          " samples of the system, but ", baseline.scores.size(), " of the baseline. Resample both in the same way.");
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
