#pragma once
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "attn/checkpoint/json.hpp"
#include "attn/core/error.hpp"
#include "attn/core/file.hpp"
#include "attn/core/format_count.hpp"
#include "attn/train/terminal.hpp"
#include "common/log_summary.hpp"

namespace attn {

/// A sentence with its translation and reference: an entry of the log event `samples`.
struct SampleTranslation {
  std::string source, translation, reference;
  Index step = 0;
};

/// Report data of a run, read from log.jsonl, model.json, translations.txt and maps/*.svg.
struct ReportedRun {
  std::string name;
  LogEvents log;
  LogSummary summary = {};
  std::vector<std::pair<std::string, std::string>> settings = {};  // (name, value) pairs of machine, model and training
  std::vector<SampleTranslation> samples = {};                     // without sources if only translations.txt has them
  std::vector<std::string> maps = {};                              // attention maps as SVG
  std::vector<std::string> warnings = {};
};

namespace reported_run {

/// Flattens {"machine": {"device": "1 thread"}} to ("machine device", "1 thread").
inline void flatten(const nlohmann::json& value, const std::string& name,
                    std::vector<std::pair<std::string, std::string>>& settings) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) flatten(inner, name.empty() ? key : name + " " + key, settings);
  } else if (!value.is_null()) {
    settings.emplace_back(name, value.is_string() ? value.get<std::string>() : json_text(value));
  }
}

/// Reads the settings from model.json, or from the log's start event if it is missing.
inline void read_settings(const std::filesystem::path& folder, ReportedRun& run) {
  nlohmann::json config;
  const nlohmann::json start = last_event(run.log, "start");
  if (file_exists(folder / "model.json")) config = parse_json(read_file(folder / "model.json"));
  if (config.is_discarded()) run.warnings.push_back("model.json is damaged; the settings are those of the log");
  const auto part = [](const nlohmann::json& whole, const char* name) {
    return whole.is_object() && whole.contains(name) ? whole[name] : nlohmann::json();
  };
  flatten(part(part(config, "model"), "name"), "model", run.settings);
  for (const char* name : {"shape", "machine", "attn"}) flatten(part(config, name), name, run.settings);
  if (!config.is_object()) flatten(part(start, "device"), "machine device", run.settings);
  if (const auto count = number_of(start, "parameters"); count && std::abs(*count) < 1e15)
    run.settings.emplace_back("parameters", format_count(static_cast<Index>(*count)));
  if (const auto bytes = number_of(start, "memory"); bytes && std::abs(*bytes) < 1e18)
    run.settings.emplace_back("memory, MiB", format_count(static_cast<Index>(*bytes / (1 << 20))));
  for (const char* side : {"source", "target"})
    for (const char* name : {"kind", "language", "vocabulary"})
      flatten(part(part(config, side), name), std::string(side) + " " + name, run.settings);
  flatten(part(config, "truncate"), "source tokens at most", run.settings);
  flatten(part(config, "limit"), "translation tokens at most", run.settings);
  flatten(part(config.is_object() ? config : start, "settings"), "", run.settings);
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

/// Reads the first three attention maps small enough for a page.
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

/// Collects warnings in the log and problems with the log itself.
inline void read_warnings(ReportedRun& run) {
  for (const nlohmann::json& event : run.log.others)
    if (text_of(event, "event") == "warning") run.warnings.push_back(text_of(event, "text"));
  const auto lost = std::ranges::count_if(run.log.steps, [](const auto& step) { return !number_of(step.second, "loss"); });
  if (lost > 0)
    run.warnings.push_back("the training loss was not a finite number at " + std::to_string(lost) + " of " +
                           counted(run.log.steps.size(), "report") + "; the curves omit them");
  if (run.log.passed_over > 0)
    run.warnings.push_back("log.jsonl has " + counted(run.log.passed_over, "line") +
                           " without an event, possibly cut off when the program was stopped");
  if (run.log.steps.empty()) run.warnings.push_back("log.jsonl has no training step yet");
}

}  // namespace reported_run

/// Reads a run's folder for a report. Only log.jsonl is required.
inline ReportedRun read_reported_run(const std::filesystem::path& folder) {
  using namespace reported_run;
  require(is_folder(folder), folder.string(), " is not a folder. Name the folder of a run.");
  require(is_file(folder / "log.jsonl"), folder.string(),
          " has no log.jsonl: it is not a run folder, or the training has not started");
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

/// Reads several runs. Runs whose folders have the same name are named by path.
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
