#include "experiment.hpp"

#include <iostream>

#include "attn/core/format_count.hpp"
#include "attn/train/terminal.hpp"
#include "common/begin_run.hpp"
#include "common/log_summary.hpp"
#include "paper.hpp"

using namespace attn;
using nlohmann::json;

namespace {

/// The results in a run's folder.
struct Outcome {
  const PaperModel& paper;
  RunConfig config;
  LogSummary log;
  json start, test;  // log events
  std::string processor;
  std::optional<double> seconds;  // including validation; empty if a crash lost part of the log

  const std::string& setting(const std::string& name) const { return config.settings.at(name); }
};

Outcome read_outcome(const ExperimentOptions& options, const PaperModel& paper) {
  const auto folder = folder_of(options, paper.name);
  const LogEvents log = read_log_events(folder / "log.jsonl");
  const json machine = json::parse(read_file(folder / "model.json")).at("machine");
  Outcome outcome{paper, read_run_config(folder), summary_of(log), {}, {}, machine.at("processor"), {}};
  int begun = 0, ended = 0;
  double seconds = 0;
  for (const json& event : log.others) {
    const std::string kind = text_of(event, "event");
    if (kind == "start") outcome.start = event, ++begun;
    if (kind == "trained") seconds += number_of(event, "seconds").value_or(0), ++ended;
    if (kind == "test") outcome.test = event;
  }
  if (begun == ended) outcome.seconds = seconds;
  return outcome;
}

/// Three decimals, or more for small values to keep three significant digits.
std::string format_seconds(double seconds) {
  return format_decimals(seconds, seconds >= 0.1 ? 3 : seconds >= 0.01 ? 4 : 5);
}

std::string format_figure(std::optional<double> value, int decimals) {
  return value ? format_decimals(*value, decimals) : "–";
}

std::string table3(const std::vector<Outcome>& outcomes) {
  std::string text =
      "| model | parameters | PPL, validation | PPL, test | PPL, paper | BLEU, test | BLEU of the paper's translations, "
      "recomputed | BLEU as the paper prints it |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Outcome& one : outcomes)
    text += std::string("| ") + one.paper.title + " | " +
            format_count(static_cast<Index>(number_of(one.start, "parameters").value_or(0))) + " | " +
            format_decimals(std::exp(one.log.best), 2) + " | " + format_figure(number_of(one.test, "perplexity"), 2) +
            " | " + format_decimals(one.paper.perplexity, 2) + " | **" + format_figure(number_of(one.test, "bleu"), 2) +
            "** | **" + format_decimals(one.paper.rescored_bleu, 2) + "** | " + format_decimals(one.paper.bleu, 2) + " |\n";
  return text;
}

std::string table4(const std::vector<Outcome>& outcomes) {
  std::string text =
      "| model | epochs | steps | s per batch | s per batch, paper | hours of training | hours with validation | hours, "
      "paper "
      "|\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Outcome& one : outcomes) {
    const double steps = static_cast<double>(std::max<Index>(one.log.steps, 1));
    text += std::string("| ") + one.paper.title + " | " + one.setting("epochs") + " | " + format_count(one.log.steps) +
            " | " + format_seconds(one.log.seconds / steps) + " | " + format_decimals(one.paper.seconds_a_batch, 3) +
            " | " + format_decimals(one.log.seconds / 3600, 3) + " (" + format_duration(one.log.seconds) + ") | " +
            format_figure(one.seconds ? std::optional(*one.seconds / 3600) : std::nullopt, 3) + " | " +
            format_decimals(one.paper.hours, 1) + " |\n";
  }
  return text;
}

std::string page(const std::vector<Outcome>& outcomes) {
  const Outcome& first = outcomes[0];
  const std::string test = first.config.about.value("test", "");
  const auto sentences = static_cast<Index>(number_of(first.test, "sentences").value_or(0));
  const auto beam = static_cast<Index>(number_of(first.test, "beam").value_or(1));
  const bool same_batches = first.setting("batch") == "88" && first.setting("batch-unit") == "sentences";
  std::string text =
      "# A Transformer and two Linformers, English to German\n\nCompared with the figures of \"Evaluating Linformer's "
      "performance on the WMT14 EN-DE machine translation task\".\n\n## Table 3: perplexity and BLEU\n\n" +
      table3(outcomes) + "\nBLEU is sacreBLEU's, `" + text_of(first.test, "signature") + "`, of " +
      (beam > 1 ? "translations with a beam of " + format_count(beam) : "greedy translations") + " of " +
      counted(sentences, "sentence") + (test.empty() ? "" : " (" + test + ")") +
      ", with the weights that are best on the validation text. The paper scores its "
      "first translation against all 3,003 references by mistake. Compare with the recomputed column: sacreBLEU, 13a, of "
      "the paper's translations of newstest2014.\n\n"
      "Perplexity is per token, so you cannot compare it across tokenizers or texts. Here the vocabulary is " +
      format_count(first.config.source.size()) +
      ". The paper has BART's of 50,265, half of WMT14's training text, and its last 1 % for validation.\n\n"
      "## Table 4: time\n\n" +
      table4(outcomes) + "\nThe paper's times are of an RTX 3090 and include validation. " +
      (same_batches ? "A batch is 88 sentences here and there.\n\n"
                    : "A batch is " + format_count(std::stoll(first.setting("batch"))) + " " + first.setting("batch-unit") +
                          " here and 88 sentences there.\n\n") +
      "## How\n\n";
  json settings = first.config.settings;
  settings.erase("model");
  for (const auto& [name, value] : {std::pair<std::string, std::string>("command", first.config.about.value("command", "")),
                                    {"commit", first.config.commit},
                                    {"machine", first.processor + "; " + first.config.device},
                                    {"settings", settings.dump()}})
    text += "- " + name + ": `" + value + "`\n";
  return text;
}

}  // namespace

void write_tables(const ExperimentOptions& options) {
  std::vector<Outcome> outcomes;
  for (const PaperModel& model : paper_models)
    if (is_finished_run(folder_of(options, model.name))) outcomes.push_back(read_outcome(options, model));
  require(!outcomes.empty(), "no model in ", options.folder().string(), " is fully trained. Run the part train first.");
  write_file(options.folder() / "tables.md", page(outcomes));
  std::cout << "\n"
            << table3(outcomes) << "\n"
            << table4(outcomes) << "\nwritten to " << (options.folder() / "tables.md").string() << "\n";
}
