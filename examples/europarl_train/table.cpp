#include "job.hpp"

#include <set>

#include "attn/core/file.hpp"
#include "attn/metrics/bleu.hpp"
#include "attn/pictures/learning_curve.hpp"
#include "attn/run/run_folder.hpp"
#include "common/commit.hpp"
#include "common/log_summary.hpp"
#include "common/run_statistics.hpp"

using namespace attn;
using nlohmann::json;

namespace {

/// A row of the table as JSON: the paper's results and the outcome of each finished run.
json describe(const Row& row, const std::vector<Job>& jobs) {
  json runs = json::array();
  for (const Job& job : jobs)
    if (job.row.name == row.name && job.finished()) runs.push_back(json::parse(read_file(job.folder() / "outcome.json")));
  return {{"row", row.name},
          {"title", row.title},
          {"note", row.note},
          {"paper", {{"bleu", row.bleu}, {"perplexity", row.perplexity}, {"training_loss", row.training_loss}}},
          {"runs", runs}};
}

/// Draws the learning curves of all seeds of a row in one figure.
void draw_curves(const Row& row, const std::vector<Job>& jobs) {
  const auto drawn = [&](const Job& job) { return job.row.name == row.name && file_exists(job.folder() / "log.jsonl"); };
  const bool several = std::ranges::count_if(jobs, drawn) > 1;
  std::vector<Series> curves;
  for (const Job& job : jobs) {
    if (!drawn(job)) continue;
    LogSummary log = read_log(job.folder() / "log.jsonl");
    const std::string seed = several ? ", seed " + std::to_string(job.seed) : "";
    log.training.name = "training" + seed;
    log.validations.name = "validation" + seed;
    curves.insert(curves.end(), {log.training, log.validations});
  }
  if (!curves.empty()) write_file(jobs[0].options.group() / (row.name + ".svg"), draw_learning_curve(row.title, curves));
}

/// A column of the table: its title and the JSON path of its value in the row (paper) or in each run.
struct Column {
  std::string head, place;
  int decimals;

  RunStatistics of_runs(const json& row) const {
    std::vector<double> values;
    for (const json& run : row.at("runs")) values.push_back(run.at(json::json_pointer(place)).get<double>());
    return RunStatistics(values);
  }
  std::string cell(const json& row) const {
    if (!place.starts_with("/paper")) return of_runs(row).to_string(decimals);
    const double figure = row.at(json::json_pointer(place));
    return figure > 0 ? format_decimals(figure, decimals) : "–";
  }
};

std::string markdown(const std::vector<papers::TestSet>& tests, const json& about) {
  std::vector<Column> columns;
  for (const auto& [name, title, text] : tests)
    columns.insert(columns.end(), {{title + ": BLEU, paper", "/paper/bleu/" + name, 2},
                                   {title + ": BLEU, best epoch", "/tests/" + name + "/bleu", 2},
                                   {title + ": BLEU, last epoch", "/tests/" + name + "/last_bleu", 2},
                                   {title + ": sacreBLEU, best epoch", "/tests/" + name + "/sacrebleu", 2}});
  columns.insert(columns.end(), {{"perplexity, paper", "/paper/perplexity", 1},
                                 {"perplexity, best epoch", "/perplexity", 1},
                                 {"perplexity, last epoch", "/last_perplexity", 1},
                                 {"training loss, paper", "/paper/training_loss", 3},
                                 {"training loss, here", "/training_loss", 3},
                                 {"epochs", "/epochs", 0},
                                 {"ms per step", "/milliseconds_per_step", 2}});
  std::string text = "| model | row | parameters", rule = "| --- | --- | ---";
  for (const Column& column : columns) text += " | " + column.head, rule += " | ---";
  text += " | training time | runs |\n" + rule + " | --- | --- |\n";
  for (const json& row : about.at("rows")) {
    const json& runs = row.at("runs");
    text += "| " + row.at("title").get<std::string>() + " | `" + row.at("row").get<std::string>() + "` | " +
            format_count(runs[0].at("parameters"));
    for (const Column& column : columns) text += " | " + column.cell(row);
    text +=
        " | " + format_duration(Column{"", "/seconds", 0}.of_runs(row).mean) + " | " + std::to_string(runs.size()) + " |\n";
  }
  text += "\nBLEU as the paper computed it: " + about.at("bleu").get<std::string>() +
          ". sacreBLEU: " + about.at("sacrebleu").get<std::string>() +
          ". Perplexity is on validation text. The best epoch has the lowest. Training loss is that of the last epoch, "
          "with dropout, in nats per token. Several runs: mean ± standard deviation.\n\n";
  for (const json& row : about.at("rows"))
    if (const std::string note = row.at("note"); !note.empty()) text += note + "\n\n";
  for (const char* key : {"command", "seeds", "commit", "machine", "settings"}) {
    const json& value = about.at(key);
    text += std::string("- ") + key + ": `" + (value.is_string() ? value.get<std::string>() : value.dump()) + "`\n";
  }
  return text;
}

}  // namespace

std::string write_table(std::vector<Job> jobs, const std::vector<Job>& others) {
  for (const Job& other : others) jobs.push_back(other);
  const Options& options = jobs[0].options;
  const Experiment& experiment = options.experiment;
  json rows = json::array();
  std::set<std::uint64_t> seeds;
  for (const Row& row : ::experiment(experiment.name).rows) {
    draw_curves(row, jobs);
    const json found = describe(row, jobs);
    for (const json& run : found.at("runs")) seeds.insert(run.at("seed").get<std::uint64_t>());
    if (!found.at("runs").empty()) rows.push_back(found);
  }
  if (rows.empty()) return "";
  draw_figure1(jobs);
  write_sample_tables(jobs);
  const json& first = rows[0].at("runs")[0];
  json settings = first.at("settings");
  for (const char* key : {"row", "seed"}) settings.erase(key);
  const json about{{"experiment", experiment.name},
                   {"command", options.command},
                   {"seeds", seeds},
                   {"commit", attn::program_commit()},
                   {"machine", processor_name() + "; " + first.at("device").get<std::string>()},
                   {"bleu", experiment.paper_bleu},
                   {"sacrebleu", Bleu().signature()},
                   {"settings", settings},
                   {"rows", rows}};
  const std::string table = markdown(jobs[0].corpus.tests, about);
  write_file(options.output / (experiment.name + ".md"), "# " + experiment.name + "\n\n" + table);
  write_file(options.output / (experiment.name + ".json"), about.dump(2) + "\n");
  return table;
}
