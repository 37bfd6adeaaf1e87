#include "table.hpp"

#include "attn/metrics/bleu.hpp"
#include "attn/metrics/run_statistics.hpp"
#include "attn/run/machine.hpp"
#include "attn/train/log_summary.hpp"

using namespace attn;
using nlohmann::json;

namespace {

/// A row's finished runs.
struct Results {
  const Row& row;
  std::vector<json> runs;

  RunStatistics of(const std::string& place) const {
    std::vector<double> values;
    for (const json& run : runs) values.push_back(run.at(json::json_pointer(place)).get<double>());
    return RunStatistics(values);
  }
};

/// Reads what a row's runs have left, and draws all seeds in one picture.
Results results_of(const Row& row, const std::vector<Job>& jobs) {
  Results results{row, {}};
  std::vector<Series> curves;
  for (const Job& job : jobs) {
    if (&job.row != &row) continue;
    if (job.finished()) results.runs.push_back(json::parse(read_file(job.folder() / "outcome.json")));
    if (!std::filesystem::exists(job.folder() / "log.jsonl")) continue;
    LogSummary log = read_log(job.folder() / "log.jsonl");
    const std::string seed = job.options.seeds.size() > 1 ? ", seed " + std::to_string(job.seed) : "";
    log.training.name = "training" + seed;
    log.validations.name = "validation" + seed;
    curves.push_back(log.training);
    curves.push_back(log.validations);
  }
  if (!curves.empty()) write_learning_curve(jobs[0].group() / (row.name + ".svg"), row.title, curves);
  return results;
}

struct Column {
  std::string head;
  std::function<std::string(const Results&)> cell;
};

std::vector<Column> columns(const std::vector<papers::TestSet>& tests) {
  const auto figure = [](const std::string& head, const std::string& place, int decimals) -> Column {
    return {head, [=](const Results& results) { return results.of(place).to_string(decimals); }};
  };
  const auto paper = [](const std::string& head, const auto& of_row, int decimals) -> Column {
    return {head + ", paper", [=](const Results& results) {
              const double value = of_row(results.row);
              return value > 0 ? format_decimals(value, decimals) : "–";
            }};
  };
  std::vector<Column> all{
      {"model", [](const Results& results) { return results.row.title; }},
      {"row", [](const Results& results) { return "`" + results.row.name + "`"; }},
      {"parameters", [](const Results& results) { return format_count(results.runs[0].at("parameters")); }}};
  for (const auto& [name, title, text] : tests) {
    all.push_back(paper(
        title + ": BLEU", [name = name](const Row& row) { return row.bleu.at(name); }, 2));
    all.push_back(figure(title + ": BLEU, best epoch", "/tests/" + name + "/bleu", 2));
    all.push_back(figure(title + ": BLEU, last epoch", "/tests/" + name + "/last_bleu", 2));
    all.push_back(figure(title + ": sacreBLEU, best epoch", "/tests/" + name + "/sacrebleu", 2));
  }
  const std::vector<Column> others{
      paper(
          "perplexity", [](const Row& row) { return row.perplexity; }, 1),
      figure("perplexity, best epoch", "/perplexity", 1),
      figure("perplexity, last epoch", "/last_perplexity", 1),
      paper(
          "training loss", [](const Row& row) { return row.training_loss; }, 3),
      figure("training loss, here", "/training_loss", 3),
      figure("epochs", "/epochs", 0),
      figure("ms a step", "/milliseconds_per_step", 2),
      {"training time", [](const Results& results) { return format_duration(results.of("/seconds").mean); }},
      {"runs", [](const Results& results) { return std::to_string(results.runs.size()); }}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::string markdown(const std::vector<Column>& columns, const std::vector<Results>& results, const json& about) {
  std::string text, rule;
  for (const Column& column : columns) text += "| " + column.head + " ", rule += "| --- ";
  text += "|\n" + rule + "|\n";
  for (const Results& row : results) {
    for (const Column& column : columns) text += "| " + column.cell(row) + " ";
    text += "|\n";
  }
  text += "\nBLEU as the paper computed it: " + about.at("bleu").get<std::string>() +
          ". sacreBLEU: " + about.at("sacrebleu").get<std::string>() +
          ". Perplexity of the validation text; the best epoch is that of the lowest. Training loss of the last epoch, "
          "with dropout, in nats per token. Several runs: mean ± standard deviation.\n\n";
  for (const char* key : {"command", "seeds", "commit", "machine", "settings"}) {
    const json& value = about.at(key);
    text += std::string("- ") + key + ": `" + (value.is_string() ? value.get<std::string>() : value.dump()) + "`\n";
  }
  return text;
}

}  // namespace

std::string write_table(const std::vector<Job>& jobs) {
  const Options& options = jobs[0].options;
  const Experiment& experiment = options.experiment;
  std::vector<Results> finished;
  json rows;
  for (const Row& row : experiment.rows)
    if (const Results results = results_of(row, jobs); !results.runs.empty()) {
      finished.push_back(results);
      rows.push_back({{"row", row.name},
                      {"title", row.title},
                      {"paper", {{"bleu", row.bleu}, {"perplexity", row.perplexity}, {"training_loss", row.training_loss}}},
                      {"runs", results.runs}});
    }
  if (finished.empty()) return "";
  const json& first = finished[0].runs[0];
  json settings = first.at("settings");
  for (const char* key : {"row", "seed"}) settings.erase(key);
  const json about{{"experiment", experiment.name},
                   {"command", options.command},
                   {"seeds", options.seeds},
                   {"commit", ATTN_COMMIT},
                   {"machine", processor_name() + "; " + first.at("device").get<std::string>()},
                   {"bleu", experiment.paper_bleu},
                   {"sacrebleu", Bleu().signature()},
                   {"settings", settings},
                   {"rows", rows}};
  const std::string table = markdown(columns(jobs[0].corpus.tests), finished, about);
  write_file(options.output / (experiment.name + ".md"), "# " + experiment.name + "\n\n" + table);
  write_file(options.output / (experiment.name + ".json"), about.dump(2) + "\n");
  return table;
}
