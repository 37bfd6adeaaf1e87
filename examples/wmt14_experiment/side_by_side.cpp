#include "experiment.hpp"

#include <iostream>

#include "attn/core/file.hpp"
#include "attn/core/format_count.hpp"
#include "attn/train/terminal.hpp"
#include "common/begin_run.hpp"
#include "paper.hpp"

using namespace attn;

namespace {

using Lines = std::vector<std::string>;

/// Line indices of the paper's examples in a text.
std::vector<std::size_t> examples_in(const Lines& source) {
  std::vector<std::size_t> places;
  for (const char* beginning : paper_examples)
    for (std::size_t i = 0; i < source.size(); ++i)
      if (source[i].starts_with(beginning)) {
        places.push_back(i);
        break;
      }
  return places;
}

/// The middles of `count` equal parts of a text with `lines` lines.
std::vector<std::size_t> evenly_spaced(std::size_t lines, std::size_t count) {
  count = std::min(count, lines);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < count; ++i) places.push_back((2 * i + 1) * lines / (2 * count));
  return places;
}

/// Escapes text for a cell of a Markdown table.
std::string cell(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    if (std::string("\\|*_`<>[]").find(letter) != std::string::npos) safe += '\\';
    safe += letter;
  }
  return safe.empty() ? "(empty)" : safe;
}

}  // namespace

void write_samples(const ExperimentOptions& options) {
  const ParallelText test = kept_text(options, "test");
  std::vector<std::pair<const char*, Lines>> models;
  for (const PaperModel& model : paper_models)
    if (const auto folder = folder_of(options, model.name); is_finished_run(folder)) {
      models.emplace_back(model.title, read_lines(folder / "translations.txt"));
      require(models.back().second.size() == test.source.size(), (folder / "translations.txt").string(), " has ",
              counted(models.back().second.size(), "line"), ", but the test text has ", test.source.size(),
              ". Train the model again, in another folder.");
    }
  require(!models.empty(), "no model in ", options.folder().string(), " is fully trained. Run the part train first.");

  std::string text = "# Translations side by side\n\nTest sentences and their translations.\n";
  const auto add = [&](const std::string& title, const std::vector<std::size_t>& places) {
    if (places.empty()) return;
    text += "\n## " + title + "\n";
    for (const std::size_t i : places) {
      text += "\nLine " + format_count(static_cast<Index>(i + 1)) + "\n\n| | |\n| --- | --- |\n| source | " +
              cell(test.source[i]) + " |\n";
      for (const auto& [name, lines] : models) text += std::string("| ") + name + " | " + cell(lines[i]) + " |\n";
      text += "| reference | " + cell(test.target[i]) + " |\n";
    }
  };
  add("The paper's examples (section 6.2, appendix A)", examples_in(test.source));
  const auto spaced = evenly_spaced(test.source.size(), static_cast<std::size_t>(options.samples));
  add(counted(spaced.size(), "sentence") + ", evenly spaced in the test text", spaced);
  write_file(options.folder() / "samples.md", text);
  std::cout << "written to " << (options.folder() / "samples.md").string() << "\n";
}
