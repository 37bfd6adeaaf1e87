#pragma once
#include <numeric>

#include "attn/metrics/corpus_metric.hpp"

namespace attn {

// Bootstrap resampling (Koehn 2004), bit-compatible with sacreBLEU 2.6 under numpy 2: same draws, same precision of every
// sum and same order of operations, so means, intervals and p-values are identical.

/// Reproduces numpy.random.default_rng(seed), so that resampling draws the same sentences as sacreBLEU. PCG64 (O'Neill
/// 2014) is a 128-bit linear congruential generator with an XSL-RR output, seeded by numpy's SeedSequence. The rest of attn
/// uses core/random.hpp.
class Pcg64 {
 public:
  explicit Pcg64(std::uint64_t seed) {
    const auto words = seed_words(seed);
    increment_ = (join(words[2], words[3]) << 1) | 1;
    next();
    state_ += join(words[0], words[1]);
    next();
  }

  /// 32 random bits. Each 64-bit step gives its low half first, then its high half.
  std::uint32_t bits() {
    has_half_ = !has_half_;
    if (!has_half_) return half_;
    const std::uint64_t both = next();
    half_ = static_cast<std::uint32_t>(both >> 32);
    return static_cast<std::uint32_t>(both);
  }

  /// A uniform integer below `count` (Lemire 2019), as choice(count) draws for counts below 2^32. A count of 1 consumes no
  /// bits.
  Index below(Index count) {
    if (count == 1) return 0;
    const auto range = static_cast<std::uint64_t>(count);
    std::uint64_t product = bits() * range;
    const std::uint64_t threshold = (std::uint64_t{1} << 32) % range;
    while ((product & 0xffffffffU) < threshold) product = bits() * range;
    return static_cast<Index>(product >> 32);
  }

 private:
  __extension__ using Wide = unsigned __int128;

  static Wide join(std::uint64_t high, std::uint64_t low) { return static_cast<Wide>(high) << 64 | low; }

  std::uint64_t next() {
    state_ = state_ * join(0x2360ed051fc65da4U, 0x4385df649fccf645U) + increment_;
    const auto folded = static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_);
    const auto turn = static_cast<unsigned>(state_ >> 122);
    return folded >> turn | folded << ((64 - turn) & 63);
  }

  /// numpy's SeedSequence: mixes the seed into a pool of four words and hashes four 64-bit words out of it.
  static std::array<std::uint64_t, 4> seed_words(std::uint64_t seed) {
    std::uint32_t hash = 0x43b0d7e5U;
    const auto hashed = [&hash](std::uint32_t value, std::uint32_t multiplier) {
      value ^= hash;
      hash *= multiplier;
      value *= hash;
      return value ^ value >> 16;
    };
    std::array<std::uint32_t, 4> pool{};
    for (std::size_t i = 0; i < 4; ++i)
      pool[i] = hashed(i < 2 ? static_cast<std::uint32_t>(seed >> (32 * i)) : 0, 0x931e8875U);
    for (std::size_t from = 0; from < 4; ++from)
      for (std::size_t to = 0; to < 4; ++to)
        if (from != to) {
          const std::uint32_t mixed = 0xca01f9ddU * pool[to] - 0x4973f715U * hashed(pool[from], 0x931e8875U);
          pool[to] = mixed ^ mixed >> 16;
        }
    std::array<std::uint64_t, 4> words{};
    hash = 0x8b51f9ddU;
    for (std::size_t i = 0; i < 8; ++i)
      words[i / 2] |= static_cast<std::uint64_t>(hashed(pool[i % 4], 0x58f38dedU)) << (32 * (i % 2));
    return words;
  }

  Wide state_ = 0, increment_ = 0;
  std::uint32_t half_ = 0;
  bool has_half_ = false;
};

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
  if (count < 8) return std::accumulate(values, values + count, Real{0});
  if (count > 128) {
    const std::size_t half = count / 2 - count / 2 % 8;
    return pairwise_sum(values, half) + pairwise_sum(values + half, count - half);
  }
  Real parts[8];
  std::copy_n(values, 8, parts);
  std::size_t i = 8;
  for (; i + 8 <= count; i += 8)
    for (std::size_t k = 0; k < 8; ++k) parts[k] += values[i + k];
  const Real sum = ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
  return std::accumulate(values + i, values + count, sum);
}

/// numpy's mean, in float or double.
inline double mean_of(const std::vector<double>& values, bool is_float) {
  const auto mean = []<class Real>(const std::vector<Real>& all) {
    const auto sum = static_cast<double>(pairwise_sum(all.data(), all.size()));
    return static_cast<Real>(sum / static_cast<double>(all.size()));
  };
  return is_float ? mean(std::vector<float>(values.begin(), values.end())) : mean(values);
}

inline double rounded(double value, bool to_float) { return to_float ? static_cast<float>(value) : value; }

}  // namespace detail

/// The interval that sacreBLEU prints in its table of several systems, or with a single score, which uses an exact mean.
inline Confidence confidence(Resampled resampled, bool exact_mean) {
  auto& [scores, is_float] = resampled;
  std::ranges::sort(scores);
  const std::size_t low = scores.size() / 40, high = scores.size() - low - 1;
  const double interval = 0.5 * detail::rounded(scores[high] - scores[low], is_float);
  if (!exact_mean) return {detail::mean_of(scores, is_float), interval};
  const long double sum = std::accumulate(scores.begin(), scores.end(), 0.0L);
  return {detail::rounded(static_cast<double>(sum / static_cast<long double>(scores.size())), is_float), interval};
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
