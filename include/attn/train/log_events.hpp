#pragma once
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "attn/core/types.hpp"
#include "attn/train/parse_json.hpp"

namespace attn {

/// The events of a run's log.jsonl, of all the parts in which it was run.
struct LogEvents {
  std::map<Index, nlohmann::json> steps, validations;  // by step
  std::vector<nlohmann::json> others;                  // start, warning, mean, test, samples, in their order
  Index passed_over = 0;                               // lines that are no events, such as one that a crash cut off
};

/// A number of an event; none where it is missing or was not finite, which JSON writes as null.
inline std::optional<double> number_of(const nlohmann::json& event, const char* name) {
  if (!event.is_object() || !event.contains(name) || !event[name].is_number()) return {};
  const double value = event[name].get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// A text of an event; empty where it is missing.
inline std::string text_of(const nlohmann::json& event, const char* name) {
  return event.is_object() && event.contains(name) && event[name].is_string() ? event[name].get<std::string>() : "";
}

/// Reads a log. Steps that a resumed run made again are there once. A file that is not there has no events.
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
    if (kind == "start") {  // what a crash came after was done again
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

}  // namespace attn
