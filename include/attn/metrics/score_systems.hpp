#pragma once
#include "attn/metrics/bootstrap.hpp"

namespace attn {

/// A system's score and its bootstrap statistics.
struct SystemScore {
  double score = 0;
  std::string details;  // BLEU's precisions and lengths
  std::optional<Confidence> confidence;
  std::optional<double> p_value;  // of the difference from the first system

  /// In the format of sacreBLEU for one system: 28.45 (μ = 28.39 ± 1.20) 92.9/50.0/20.0/12.5 (BP = ...
  std::string line() const {
    std::string text = detail::formatted("%.2f", score);
    if (confidence && confidence->mean > 0)
      text += detail::formatted(" (μ = %.2f ± %.2f)", confidence->mean, confidence->interval);
    return details.empty() ? text : text + " " + details;
  }

  /// In the format of sacreBLEU's table of systems: 28.45 (28.39 ± 1.20) (p = 0.0120)*. The star marks p <= 0.05.
  std::string cell() const {
    std::string text = detail::formatted("%.2f", score);
    if (confidence) text += detail::formatted(" (%.2f ± %.2f)", confidence->mean, confidence->interval);
    if (p_value) text += detail::formatted(" (p = %.4f)", *p_value) + (*p_value > 0.05 ? "" : "*");
    return text;
  }
};

struct MetricScores {
  std::string metric, signature;  // signature: empty if the metric has none
  std::vector<SystemScore> systems;
};

/// Scores texts by one metric. A bootstrap adds a confidence interval, and a p-value against the first system.
inline MetricScores score_systems(const CorpusMetric& metric, std::span<const std::vector<std::string>> systems,
                                  std::span<const std::vector<std::string>> references,
                                  const std::optional<BootstrapOptions>& bootstrap = {}) {
  MetricScores result{metric.name, {}, {}};
  if (!metric.signature_fields.empty())
    result.signature =
        detail::signature(std::ssize(references), metric.signature_fields,
                          bootstrap ? detail::formatted("|bs:%lld|seed:%llu", static_cast<long long>(bootstrap->samples),
                                                        static_cast<unsigned long long>(bootstrap->seed))
                                    : "");
  Resampled baseline;
  for (const std::vector<std::string>& hypotheses : systems) {
    const CountedText text = counted(metric, hypotheses, references);
    SystemScore& system = result.systems.emplace_back();
    system.score = metric.score(text.sums);
    system.details = metric.details(text.sums);
    if (!bootstrap) continue;
    Resampled resampled = resample(metric, text, *bootstrap);
    system.confidence = confidence(resampled, systems.size() == 1);
    if (result.systems.size() > 1)
      system.p_value = paired_p_value(resampled, baseline, std::abs(result.systems[0].score - system.score));
    else
      baseline = std::move(resampled);
  }
  return result;
}

}  // namespace attn
