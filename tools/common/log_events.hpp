#pragma once
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "attn/checkpoint/json.hpp"
#include "attn/core/types.hpp"

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

}  // namespace attn
