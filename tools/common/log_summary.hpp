#pragma once
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "attn/checkpoint/json.hpp"
#include "attn/core/types.hpp"
#include "attn/pictures/chart.hpp"
#include "attn/pictures/learning_curve.hpp"

namespace attn {

/// Events of a run's log.jsonl, including resumed parts.
struct LogEvents {
  std::map<Index, nlohmann::json> steps, validations;  // by step
  std::vector<nlohmann::json> others;                  // start, warning, mean, test and samples, in log order
  Index passed_over = 0;                               // lines that are not events, e.g. truncated by a crash
};

/// A number in an event; nullopt if it is missing or not finite (null in JSON).
inline std::optional<double> number_of(const nlohmann::json& event, const char* name) {
  if (!event.is_object() || !event.contains(name) || !event[name].is_number()) return {};
  const double value = event[name].get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// A string in an event; empty if it is missing.
inline std::string text_of(const nlohmann::json& event, const char* name) {
  return event.is_object() && event.contains(name) && event[name].is_string() ? event[name].get<std::string>() : "";
}

/// Reads a log. Keeps each step once if a resumed run repeated it. A missing file has no events.
inline LogEvents read_log_events(const std::filesystem::path& path) {
  LogEvents log;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    nlohmann::json event = parse_json(line);
    const std::string kind = text_of(event, "event");
    const double step = number_of(event, "step").value_or(0);
    if (kind.empty() || step < 0 || step > 1e15) {
      ++log.passed_over;
      continue;
    }
    const auto at = static_cast<Index>(step);
    if (kind == "start") {  // drop steps after the checkpoint; the resumed run repeats them
      log.steps.erase(log.steps.upper_bound(at), log.steps.end());
      log.validations.erase(log.validations.upper_bound(at), log.validations.end());
    }
    if (kind == "step")
      log.steps[at] = std::move(event);
    else if (kind == "validation")
      log.validations[at] = std::move(event);
    else
      log.others.push_back(std::move(event));
  }
  return log;
}

/// The last event of a kind among log.others; null if there is none.
inline nlohmann::json last_event(const LogEvents& log, const std::string& kind) {
  const auto found = std::find_if(log.others.rbegin(), log.others.rend(),
                                  [&](const nlohmann::json& event) { return text_of(event, "event") == kind; });
  return found == log.others.rend() ? nlohmann::json() : *found;
}

/// Summary of a run's log.jsonl, including resumed parts.
struct LogSummary {
  Series training, validations;
  Index steps = 0;
  double seconds = 0;         // training only
  double best = 0, last = 0;  // validation loss
  double training_loss = 0;   // mean over the steps between the last two validations
};

/// Summarizes the events of a log. Skips losses that are not finite.
inline LogSummary summary_of(const LogEvents& log) {
  LogSummary summary;
  for (const auto& [step, event] : log.validations)
    if (const auto loss = number_of(event, "loss"))
      summary.validations.points.push_back({static_cast<double>(step), *loss});
  const std::vector<Series::Point>& validations = summary.validations.points;
  for (const Series::Point& point : validations) {
    summary.best = &point == &validations.front() ? point.loss : std::min(summary.best, point.loss);
    summary.last = point.loss;
  }
  const double epoch_began = validations.size() > 1 ? validations[validations.size() - 2].step : 0;
  double before = 0, counted = 0;
  for (const auto& [number, event] : log.steps) {
    const auto loss = number_of(event, "loss");
    if (!loss) continue;
    const auto step = static_cast<double>(number);
    summary.training.points.push_back({step, *loss});
    const double speed = number_of(event, "tokens_per_second").value_or(0);
    if (speed > 0) summary.seconds += number_of(event, "tokens").value_or(0) / speed;
    if (step > epoch_began) {
      summary.training_loss += *loss * (step - before);
      counted += step - before;
    }
    before = step;
    summary.steps = number;
  }
  summary.training_loss /= std::max(counted, 1.0);
  return summary;
}

/// Reads and summarizes a log.
inline LogSummary read_log(const std::filesystem::path& path) { return summary_of(read_log_events(path)); }

/// Metrics by name: steps, validations ("epochs"), seconds, milliseconds per step, validation perplexities, training loss.
inline nlohmann::json figures(const LogSummary& log) {
  return {{"steps", log.steps},
          {"epochs", log.validations.points.size()},
          {"seconds", log.seconds},
          {"milliseconds_per_step", log.steps > 0 ? 1000 * log.seconds / static_cast<double>(log.steps) : 0},
          {"perplexity", std::exp(log.best)},
          {"last_perplexity", std::exp(log.last)},
          {"training_loss", log.training_loss}};
}

}  // namespace attn
