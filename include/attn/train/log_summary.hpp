#pragma once
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "attn/train/learning_curve.hpp"

namespace attn {

/// What a run's log.jsonl says, of all the parts in which it was run.
struct LogSummary {
  Series training, validations;
  Index steps = 0;
  double seconds = 0;         // of training alone
  double best = 0, last = 0;  // validation loss
  double training_loss = 0;   // mean of the steps between the last two validations
};

/// Reads a log. Lines that are cut off, or are no events, are passed over; steps that a resumed run made again count once.
inline LogSummary read_log(const std::filesystem::path& path) {
  struct Step {
    double loss, seconds;
  };
  std::map<Index, Step> steps;
  std::map<Index, double> validations;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    if (!event.is_object()) continue;  // cut off by a crash
    const std::string kind = event.value("event", "");
    const Index step = event.value("step", Index{0});
    if (kind == "start") {  // what a crash came after was done again
      steps.erase(steps.upper_bound(step), steps.end());
      validations.erase(validations.upper_bound(step), validations.end());
    }
    if (!event.contains("loss") || !event["loss"].is_number()) continue;  // a loss that was not finite is null
    if (kind == "step")
      steps[step] = {event.at("loss"), event.at("tokens").get<double>() / event.at("tokens_per_second").get<double>()};
    if (kind == "validation") validations[step] = event.at("loss");
  }
  LogSummary summary;
  if (validations.empty() || steps.empty()) return summary;
  summary.best = summary.last = validations.rbegin()->second;
  for (const auto& [step, loss] : validations) {
    summary.validations.points.push_back({static_cast<double>(step), loss});
    summary.best = std::min(summary.best, loss);
  }
  const Index epoch_began = validations.size() > 1 ? std::next(validations.rbegin())->first : 0;
  Index before = 0, counted = 0;
  for (const auto& [step, report] : steps) {
    summary.training.points.push_back({static_cast<double>(step), report.loss});
    summary.seconds += report.seconds;
    if (step > epoch_began) {
      summary.training_loss += report.loss * static_cast<double>(step - before);
      counted += step - before;
    }
    before = step;
  }
  summary.steps = before;
  summary.training_loss /= static_cast<double>(std::max<Index>(counted, 1));
  return summary;
}

/// Its figures by name: steps, validations ("epochs"), seconds, milliseconds a step, perplexities of validation, training loss.
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
