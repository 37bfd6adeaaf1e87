#pragma once
#include "attn/run/run_folder.hpp"
#include "common/commit.hpp"
#include "common/run_statistics.hpp"

namespace statistical {

using namespace attn;

/// A system that translated the test text.
struct System {
  std::string name, title;
  std::vector<std::string> translations;
  double bleu;     // multi-bleu.perl -lc
  double seconds;  // translation time
};

namespace detail {

/// The rows of europarl_train's table: the paper's BLEU and the mean over the runs.
inline std::string neural_rows(const std::filesystem::path& file) {
  const nlohmann::json about = parse_json(read_file(file));
  std::string text;
  for (const nlohmann::json& row : about.at("rows")) {
    std::vector<double> bleu;
    for (const nlohmann::json& run : row.at("runs")) bleu.push_back(run.at("tests").at("test").at("bleu"));
    text += "| " + row.at("title").get<std::string>() + " | " + format_decimals(row.at("paper").at("bleu").at("test"), 2) +
            " | " + format_decimals(RunStatistics(bleu).mean, 2) + " | |\n";
  }
  return text;
}

inline std::string samples(const std::vector<System>& systems, const ParallelText& text) {
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

}  // namespace detail

/// Writes statistical.md: BLEU of the systems and, from `neural`, of the neural models if it is not empty. Writes
/// samples.md: 20 evenly spaced sentences with all translations. `perplexity`: of the language model. Returns the table.
inline std::string write_results(const std::filesystem::path& folder, const std::string& command,
                                 const std::vector<System>& systems, const ParallelText& text, double perplexity,
                                 const std::filesystem::path& neural) {
  std::string table = "| system | BLEU, paper | BLEU, here | seconds |\n| --- | --- | --- | --- |\n";
  for (const System& system : systems)
    table += "| " + system.title + " | | " + format_decimals(system.bleu, 2) + " | " + format_decimals(system.seconds, 1) +
             " |\n";
  if (!neural.empty()) table += detail::neural_rows(neural);
  table += "\nBLEU: multi-bleu.perl -lc, " + counted(text.source.size(), "sentence") +
           ". Perplexity of the language model on the validation text: " + format_decimals(perplexity, 1) +
           ".\n\n- command: `" + command + "`\n- commit: `" + program_commit() + "`\n- machine: `" + processor_name() +
           "`\n";
  write_file(folder / "statistical.md", "# Statistical baseline\n\n" + table);
  write_file(folder / "samples.md", detail::samples(systems, text));
  for (const System& system : systems) write_lines(folder / ("translations." + system.name + ".txt"), system.translations);
  return table;
}

}  // namespace statistical
