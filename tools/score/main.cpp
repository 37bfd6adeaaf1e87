// Scores translations of one or more systems against references, or by their probability under a model.

#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attn/core/format_count.hpp"
#include "attn/data/line_reader.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/metrics/score_systems.hpp"
#include "common/standard_output.hpp"
#include "options.hpp"

namespace {

using namespace attn;
using Text = std::vector<std::string>;

Text read_text(const std::string& name) {
  Text lines = read_lines(name);
  require(!lines.empty(), name, " is empty. Give one sentence per line.");
  return lines;
}

/// Reads text files with equal numbers of lines.
std::vector<Text> read_texts(const std::vector<std::string>& names, const std::string& first_name, std::size_t lines) {
  std::vector<Text> texts;
  for (const std::string& name : names) {
    texts.push_back(read_text(name));
    require(lines == 0 || texts.back().size() == lines, name, " has ", counted(texts.back().size(), "line"), " and ",
            first_name, " has ", lines, ". Line i of each file must translate the same sentence.");
    lines = texts.front().size();
  }
  return texts;
}

/// Number of UTF-8 code points; approximates the display width.
std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

void print_table(const std::vector<std::string>& systems, const std::vector<MetricScores>& all) {
  std::vector<Text> columns(1, {"system"});
  columns[0].insert(columns[0].end(), systems.begin(), systems.end());
  for (const MetricScores& scores : all) {
    Text& column = columns.emplace_back(1, scores.metric + (scores.systems[0].confidence ? " (μ ± 95% CI)" : ""));
    for (const SystemScore& system : scores.systems) column.push_back(system.cell());
  }
  for (std::size_t row = 0; row <= systems.size(); ++row) {
    std::string line;
    for (const Text& column : columns) {
      std::size_t widest = 0;
      for (const std::string& cell : column) widest = std::max(widest, characters(cell));
      line += column[row] + std::string(widest + 2 - characters(column[row]), ' ');
    }
    std::cout << line.substr(0, line.find_last_not_of(' ') + 1) << "\n";
  }
  if (all[0].systems[0].confidence)
    std::cout << "p: probability that two equally good systems differ as much as this one and the first; *: at most "
                 "0.05\n";
  for (const MetricScores& scores : all)
    if (!scores.signature.empty()) std::cout << scores.metric << "  " << scores.signature << "\n";
}

nlohmann::ordered_json as_json(const std::vector<std::string>& systems, const std::vector<MetricScores>& all) {
  nlohmann::ordered_json metrics = nlohmann::ordered_json::array();
  for (const MetricScores& scores : all) {
    nlohmann::ordered_json metric{{"metric", scores.metric}};
    if (!scores.signature.empty()) metric["signature"] = scores.signature;
    for (std::size_t i = 0; i < systems.size(); ++i) {
      const SystemScore& system = scores.systems[i];
      nlohmann::ordered_json row{{"system", systems[i]}, {"score", system.score}};
      if (!system.details.empty()) row["details"] = system.details;
      if (system.confidence) row["mean"] = system.confidence->mean, row["interval"] = system.confidence->interval;
      if (system.p_value) row["p_value"] = *system.p_value;
      metric["systems"].push_back(row);
    }
    metrics.push_back(metric);
  }
  return metrics;
}

}  // namespace

int main(int count, char** words) try {
  const Options options = read_options(count, words);
  if (!options.model.empty()) {
    score_given_pairs(options);
    require_written(std::cout, "the scores");
    return 0;
  }
  const std::vector<std::string> systems = options.systems.empty() ? Text{"/dev/stdin"} : options.systems;
  const std::vector<Text> references = read_texts(options.references, options.references[0], 0);
  const std::vector<Text> hypotheses = read_texts(systems, options.references[0], references[0].size());
  std::vector<MetricScores> all;
  for (const std::string& name : options.metrics)
    all.push_back(score_systems(corpus_metric(name), hypotheses, references, options.bootstrap));

  if (options.json) {
    std::cout << as_json(systems, all).dump(2) << "\n";
  } else if (systems.size() > 1) {
    print_table(systems, all);
  } else {
    for (const MetricScores& scores : all) {
      std::cout << scores.metric << " = " << scores.systems[0].line() << "\n";
      if (!scores.signature.empty()) std::cout << scores.signature << "\n";
    }
  }
  require_written(std::cout, "the scores");
} catch (const std::exception& error) {
  std::cerr << "score: " << error.what() << "\n";
  return 1;
}
