#include "table.hpp"

#include <algorithm>
#include <set>

#include "attn/metrics/bleu.hpp"
#include "attn/run/machine.hpp"
#include "attn/train/log_summary.hpp"
#include "attn/train/progress.hpp"
#include "command_line.hpp"
#include "scores.hpp"
#include "statistics.hpp"

using namespace attn;
using nlohmann::json;

namespace {

/// A row's finished runs.
struct Results {
  const Row* row;
  std::vector<json> runs;

  Statistics of(const json::json_pointer& place) const {
    std::vector<double> values;
    for (const json& run : runs) values.push_back(run.at(place).get<double>());
    return Statistics(values);
  }
};

std::vector<Results> finished(const std::vector<Job>& jobs) {
  std::vector<Results> results;
  for (const Job& job : jobs) {
    if (!job.finished()) continue;
    auto found = std::find_if(results.begin(), results.end(), [&](const Results& one) { return one.row == &job.row; });
    if (found == results.end()) found = results.insert(found, {&job.row, {}});
    found->runs.push_back(json::parse(read_file(job.folder() / "outcome.json")));
  }
  return results;
}

/// All of a row's seeds in one picture.
void draw_curves(const std::vector<Job>& jobs) {
  std::set<const Row*> drawn;
  for (const Job& first : jobs) {
    if (!drawn.insert(&first.row).second) continue;
    std::vector<Series> series;
    for (const Job& job : jobs) {
      if (&job.row != &first.row || !std::filesystem::exists(job.folder() / "log.jsonl")) continue;
      LogSummary log = read_log(job.folder() / "log.jsonl");
      const std::string seed = job.options.seeds.size() > 1 ? ", seed " + std::to_string(job.seed) : "";
      log.training.name = "training" + seed;
      log.validations.name = "validation" + seed;
      series.push_back(log.training);
      series.push_back(log.validations);
    }
    if (!series.empty()) write_learning_curve(first.group() / (first.row.name + ".svg"), first.row.title, series);
  }
}

std::string markdown(const Job& any, const std::vector<Results>& results, const json& about) {
  const std::string none = "–";
  const auto paper = [&](double figure, int decimals) { return figure > 0 ? format_decimals(figure, decimals) : none; };
  std::vector<std::string> head{"model", "row", "parameters"};
  for (const TestSet& test : any.corpus.tests)
    for (const char* what : {": BLEU, paper", ": BLEU, best epoch", ": BLEU, last epoch", ": sacreBLEU, best epoch"})
      head.push_back(test.title + what);
  for (const char* what : {"perplexity, paper", "perplexity, best epoch", "perplexity, last epoch", "training loss, paper",
                           "training loss, here", "epochs", "ms a step", "training time", "runs"})
    head.emplace_back(what);
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) text += "| " + cell + " ";
    text += "|\n";
  };
  add(head);
  add(std::vector<std::string>(head.size(), "---"));
  for (const Results& result : results) {
    const Row& row = *result.row;
    const auto figure = [&](const char* place, int decimals) {
      return result.of(json::json_pointer(place)).to_string(decimals);
    };
    std::vector<std::string> cells{row.title, "`" + row.name + "`", format_count(result.runs[0].at("parameters"))};
    for (const TestSet& test : any.corpus.tests) {
      cells.push_back(paper(row.bleu.at(test.name), 2));
      for (const char* what : {"bleu", "last_bleu", "sacrebleu"})
        cells.push_back(figure(("/tests/" + test.name + "/" + what).c_str(), 2));
    }
    cells.insert(
        cells.end(),
        {paper(row.perplexity, 1), figure("/perplexity", 1), figure("/last_perplexity", 1), paper(row.training_loss, 3),
         figure("/training_loss", 3), figure("/epochs", 0), figure("/milliseconds_per_step", 2),
         format_duration(result.of(json::json_pointer("/seconds")).mean), std::to_string(result.runs.size())});
    add(cells);
  }
  text += "\nBLEU as the paper computed it: " + about.at("bleu").get<std::string>() +
          ". sacreBLEU: " + about.at("sacrebleu").get<std::string>() +
          ". Perplexity of the validation text; the best epoch is that of the lowest. Training loss of the last epoch, "
          "with dropout, in nats per token. Several runs: mean ± standard "
          "deviation.\n\n";
  for (const char* key : {"command", "seeds", "commit", "machine", "settings"}) {
    const json& value = about.at(key);
    text += std::string("- ") + key + ": `" + (value.is_string() ? value.get<std::string>() : value.dump()) + "`\n";
  }
  return text;
}

}  // namespace

std::string write_table(const std::vector<Job>& jobs) {
  const Job& any = jobs.front();
  const Options& options = any.options;
  const std::vector<Results> results = finished(jobs);
  draw_curves(jobs);
  if (results.empty()) return "";
  json settings = results[0].runs[0].at("settings");
  for (const char* key : {"row", "seed"}) settings.erase(key);
  json about{{"experiment", options.experiment},
             {"command", options.command},
             {"seeds", options.seeds},
             {"commit", ATTN_COMMIT},
             {"machine", processor_name() + "; " + results[0].runs[0].at("device").get<std::string>()},
             {"bleu", paper_bleu(options.experiment)},
             {"sacrebleu", Bleu().signature()},
             {"settings", settings},
             {"rows", json::array()}};
  for (const Results& result : results) {
    const Row& row = *result.row;
    about["rows"].push_back(
        {{"row", row.name},
         {"title", row.title},
         {"paper", {{"bleu", row.bleu}, {"perplexity", row.perplexity}, {"training_loss", row.training_loss}}},
         {"runs", result.runs}});
  }
  const std::string table = markdown(any, results, about);
  write_file(options.output / (options.experiment + ".md"), "# " + options.experiment + "\n\n" + table);
  write_file(options.output / (options.experiment + ".json"), about.dump(2) + "\n");
  return table;
}
