#include "table.hpp"

#include <nlohmann/json.hpp>

#include "attn/checkpoint/json.hpp"
#include "attn/core/file.hpp"
#include "attn/core/format_count.hpp"
#include "attn/run/run_folder.hpp"
#include "common/commit.hpp"

using namespace attn;
using nlohmann::json;

namespace {

/// The rows of europarl_train's table: the paper's BLEU and the mean over the runs.
std::string neural_rows(const std::filesystem::path& file) {
  const json about = parse_json(read_file(file));
  std::string text;
  for (const json& row : about.at("rows")) {
    double sum = 0;
    for (const json& run : row.at("runs")) sum += run.at("tests").at("test").at("bleu").get<double>();
    text += "| " + row.at("title").get<std::string>() + " | " +
            format_decimals(row.at("paper").at("bleu").at("test").get<double>(), 2) + " | " +
            format_decimals(sum / static_cast<double>(row.at("runs").size()), 2) + " | |\n";
  }
  return text;
}

std::string samples(const std::vector<System>& systems, const ParallelText& text) {
  std::string page = "# Sample translations\n\nTwenty evenly spaced sentences.\n";
  const std::size_t all = text.source.size(), shown = std::min<std::size_t>(20, all);
  for (std::size_t k = 0; k < shown; ++k) {
    const std::size_t i = k * all / shown;
    page += "\n| line " + std::to_string(i + 1) + " | |\n| --- | --- |\n| source | " + text.source[i] +
            " |\n| reference | " + text.target[i] + " |\n";
    for (const System& system : systems) page += "| " + system.title + " | " + system.translations[i] + " |\n";
  }
  return page;
}

}  // namespace

std::string write_results(const Options& options, const std::vector<System>& systems, const ParallelText& text,
                          const std::string& models) {
  std::string table = "| system | BLEU, paper | BLEU, here | seconds |\n| --- | --- | --- | --- |\n";
  for (const System& system : systems)
    table += "| " + system.title + " | | " + format_decimals(system.bleu, 2) + " | " + format_decimals(system.seconds, 1) +
             " |\n";
  if (!options.neural.empty()) table += neural_rows(options.neural);
  table += "\nBLEU: multi-bleu.perl -lc, " + counted(text.source.size(), "sentence") + ". " + models + "\n\n- command: `" +
           options.command + "`\n- commit: `" + attn::program_commit() + "`\n- machine: `" + processor_name() + "`\n";
  write_file(options.output / "statistical.md", "# Statistical baseline\n\n" + table);
  write_file(options.output / "samples.md", samples(systems, text));
  for (const System& system : systems)
    write_lines(options.output / ("translations." + system.name + ".txt"), system.translations);
  return table;
}
