#pragma once
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/file.hpp"
#include "attn/core/format_count.hpp"
#include "attn/train/json_text.hpp"
#include "attn/train/log_events.hpp"
#include "attn/train/log_summary.hpp"
#include "attn/train/parse_json.hpp"
#include "attn/train/progress.hpp"

namespace attn {

/// A translation of a sentence, and what it should be: an entry of a log's event `samples`.
struct SampleTranslation {
  std::string source, translation, reference;
  Index step = 0;
};

/// What a report tells of a run: what its folder has of log.jsonl, model.json, translations.txt and maps/*.svg.
struct ReportedRun {
  std::string name;
  LogEvents log;
  LogSummary summary = {};
  std::vector<std::pair<std::string, std::string>> settings = {};  // of machine, model and training: a name and a value
  std::vector<SampleTranslation> samples = {};                     // without sources where only translations.txt has them
  std::vector<std::string> maps = {};                              // of attention, as SVG pictures
  std::vector<std::string> warnings = {};
};

namespace reported_run {

/// {"machine": {"device": "1 thread"}} as ("machine device", "1 thread").
inline void flatten(const nlohmann::json& value, const std::string& name,
                    std::vector<std::pair<std::string, std::string>>& settings) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) flatten(inner, name.empty() ? key : name + " " + key, settings);
  } else if (!value.is_null()) {
    settings.emplace_back(name, value.is_string() ? value.get<std::string>() : json_text(value));
  }
}

/// What model.json tells people; without it, what the log's start tells.
inline void read_settings(const std::filesystem::path& folder, ReportedRun& run) {
  nlohmann::json card, start;
  for (const nlohmann::json& event : run.log.others)
    if (text_of(event, "event") == "start") start = event;
  if (std::filesystem::exists(folder / "model.json")) card = parse_json(read_file(folder / "model.json"));
  if (card.is_discarded()) run.warnings.push_back("model.json is damaged; the settings are those of the log");
  const auto part = [](const nlohmann::json& whole, const char* name) {
    return whole.is_object() && whole.contains(name) ? whole[name] : nlohmann::json();
  };
  flatten(part(part(card, "model"), "name"), "model", run.settings);
  for (const char* name : {"shape", "machine", "attn"}) flatten(part(card, name), name, run.settings);
  if (!card.is_object()) flatten(part(start, "device"), "machine device", run.settings);
  if (const auto count = number_of(start, "parameters"); count && std::abs(*count) < 1e15)
    run.settings.emplace_back("parameters", format_count(static_cast<Index>(*count)));
  if (const auto bytes = number_of(start, "memory"); bytes && std::abs(*bytes) < 1e18)
    run.settings.emplace_back("memory, MiB", format_count(static_cast<Index>(*bytes / (1 << 20))));
  for (const char* side : {"source", "target"})
    for (const char* name : {"kind", "language", "vocabulary"})
      flatten(part(part(card, side), name), std::string(side) + " " + name, run.settings);
  flatten(part(card, "truncate"), "source tokens at most", run.settings);
  flatten(part(card, "limit"), "translation tokens at most", run.settings);
  flatten(part(card.is_object() ? card : start, "settings"), "", run.settings);
}

inline void read_samples(const std::filesystem::path& folder, ReportedRun& run) {
  for (const nlohmann::json& event : run.log.others) {
    if (text_of(event, "event") != "samples" || !event.contains("samples") || !event["samples"].is_array()) continue;
    const auto step = static_cast<Index>(number_of(event, "step").value_or(static_cast<double>(run.summary.steps)));
    for (const nlohmann::json& one : event["samples"])
      run.samples.push_back({text_of(one, "source"), text_of(one, "translation"), text_of(one, "reference"), step});
  }
  if (!run.samples.empty()) return;
  std::ifstream lines(folder / "translations.txt");
  for (std::string line; run.samples.size() < 8 && std::getline(lines, line);)
    run.samples.push_back({"", line, "", run.summary.steps});
}

/// The first three pictures of attention maps that are small enough to be shown in a page.
inline void read_maps(const std::filesystem::path& folder, ReportedRun& run) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "maps", error))
    if (entry.path().extension() == ".svg" && entry.is_regular_file(error) && entry.file_size(error) < (1 << 20))
      files.push_back(entry.path());
  std::ranges::sort(files);
  files.resize(std::min<std::size_t>(files.size(), 3));
  for (const auto& file : files) run.maps.push_back(read_file(file));
}

/// What the log warns of, and what is wrong with the log itself.
inline void read_warnings(ReportedRun& run) {
  for (const nlohmann::json& event : run.log.others)
    if (text_of(event, "event") == "warning") run.warnings.push_back(text_of(event, "text"));
  const auto lost = std::ranges::count_if(run.log.steps, [](const auto& step) { return !number_of(step.second, "loss"); });
  if (lost > 0)
    run.warnings.push_back("the training loss was not a finite number at " + std::to_string(lost) + " of " +
                           counted(run.log.steps.size(), "report") + ", which the curves leave out");
  if (run.log.passed_over > 0)
    run.warnings.push_back("log.jsonl has " + counted(run.log.passed_over, "line") +
                           " without an event, cut off perhaps when the program was stopped");
  if (run.log.steps.empty()) run.warnings.push_back("log.jsonl has no training step yet");
}

}  // namespace reported_run

/// Reads the folder of a run for a report. It needs a log.jsonl; all else may be missing.
inline ReportedRun read_reported_run(const std::filesystem::path& folder) {
  using namespace reported_run;
  require(std::filesystem::is_directory(folder), folder.string(), " is not a folder; name the folder of a training");
  require(std::filesystem::is_regular_file(folder / "log.jsonl"), "there is no log.jsonl in ", folder.string(),
          ": it is not the folder of a training, or the training has not begun");
  const OpenFile readable(folder / "log.jsonl", O_RDONLY);
  const auto whole = std::filesystem::absolute(folder).lexically_normal();
  ReportedRun run{(whole.has_filename() ? whole : whole.parent_path()).filename().string(),
                  read_log_events(folder / "log.jsonl")};
  run.summary = summary_of(run.log);
  read_settings(folder, run);
  read_samples(folder, run);
  read_maps(folder, run);
  read_warnings(run);
  return run;
}

/// Reads several; runs whose folders have the same name are called by their paths.
inline std::vector<ReportedRun> read_reported_runs(std::span<const std::filesystem::path> folders) {
  std::vector<ReportedRun> runs;
  for (const auto& folder : folders) runs.push_back(read_reported_run(folder));
  std::vector<std::string> names;
  for (const ReportedRun& run : runs) names.push_back(run.name);
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (std::ranges::count(names, names[i]) > 1) runs[i].name = folders[i].string();
  return runs;
}

}  // namespace attn
