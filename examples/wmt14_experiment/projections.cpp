#include "experiment.hpp"

#include <iostream>

#include "attn/core/file.hpp"
#include "attn/pictures/chart.hpp"
#include "common/begin_run.hpp"
#include "common/log_summary.hpp"
#include "common/stop_signal.hpp"

using namespace attn;

namespace {

/// The result of one model. NaN if its log lacks it.
struct SweepResult {
  Index tokens, words, k;  // maximum sentence length; words that pairs are joined to, or 0
  double loss, bleu;
};

SweepResult read_result(Index tokens, Index words, Index k, const std::filesystem::path& folder) {
  const LogEvents log = read_log_events(folder / "log.jsonl");
  return {tokens, words, k, summary_of(log).best, number_of(last_event(log, "test"), "bleu").value_or(std::nan(""))};
}

/// BLEU on the left axis, the loss on the right one.
std::string draw(const std::vector<SweepResult>& results, const std::vector<Index>& all_k) {
  std::vector<ChartLine> bleu, loss;
  ValueRange bleus, losses;
  for (const SweepResult& result : results) {
    const std::string sentences =
        (result.words > 0 ? ", pairs joined to " + std::to_string(result.words) + " words, cut at "
                          : ", sentences cut at ") +
        std::to_string(result.tokens) + " tokens";
    if (bleu.empty() || bleu.back().name != "BLEU" + sentences) {
      const int colour = static_cast<int>(bleu.size());
      bleu.push_back({"BLEU" + sentences, {}, colour, ChartLine::solid});
      loss.push_back({"validation loss" + sentences, {}, colour, ChartLine::dashed});
    }
    const auto k = static_cast<double>(result.k);
    bleu.back().points.push_back({k, result.bleu}), bleus.add(result.bleu);
    loss.back().points.push_back({k, result.loss}), losses.add(result.loss);
  }
  const Axis left = axes::linear(bleus, 5), right = axes::linear(losses, 5);
  const auto at_left = [&](double value) { return left.first + right(value) * (left.last - left.first); };
  Chart chart{.title = "Linformers of different k",
              .x_label = "k, the number of keys and values after the projection",
              .y_label = "BLEU of the test",
              .y = left,
              .lines = bleu,
              .legend_columns = 2,
              .right_label = "validation loss"};
  for (ChartLine& line : loss) {
    for (ChartLine::Point& point : line.points) point.y = at_left(point.y);
    chart.lines.push_back(line);
  }
  for (const Axis::Tick& tick : right.ticks) chart.right_ticks.push_back({at_left(tick.at), tick.label});
  std::vector<Axis::Tick> ticks;
  for (const Index k : all_k) ticks.push_back({static_cast<double>(k), std::to_string(k)});
  chart.x = ticks.size() > 1 ? Axis::between(ticks, true) : axes::linear(chart::ranges(chart.lines).x, 4);
  return chart.draw();
}

}  // namespace

void sweep_projections(const ExperimentOptions& experiment) {
  std::vector<SweepResult> results;
  const bool join = !experiment.sweep_words.empty();
  for (std::size_t length = 0; length < experiment.sweep_tokens.size(); ++length) {
    const Index tokens = experiment.sweep_tokens[length], words = join ? experiment.sweep_words[length] : 0;
    const std::string text = "-tokens-" + std::to_string(tokens) + (join ? "-words-" + std::to_string(words) : "");
    Options options = experiment.training;
    options.text.truncate = tokens;
    std::vector<ModelRun> runs;
    for (const Index k : experiment.sweep_k)
      runs.push_back({"linformer" + std::to_string(k), experiment.folder() / "k" / ("k-" + std::to_string(k) + text)});
    train_runs(options, runs, {}, words);
    if (stop_signal() != 0) return;
    for (std::size_t i = 0; i < runs.size(); ++i)
      results.push_back(read_result(tokens, words, experiment.sweep_k[i], runs[i].folder));
  }
  std::string table = std::string("tokens\tk\tvalidation loss\tBLEU") + (join ? "\tjoined to words\n" : "\n");
  for (const SweepResult& one : results)
    table += std::to_string(one.tokens) + "\t" + std::to_string(one.k) + "\t" + format_decimals(one.loss, 4) + "\t" +
             format_decimals(one.bleu, 2) + (join ? "\t" + std::to_string(one.words) : "") + "\n";
  const auto file = [&](const char* name) { return experiment.folder() / name; };
  write_file(file("k.tsv"), table);
  write_file(file("k.svg"), draw(results, experiment.sweep_k));
  std::cout << "\n" << table << "written to " << file("k.svg").string() << "\n";
}
