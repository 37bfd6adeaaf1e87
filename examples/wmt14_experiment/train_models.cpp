#include "experiment.hpp"

#include <iostream>

#include "attn/core/file.hpp"
#include "common/begin_run.hpp"
#include "common/earlier_run.hpp"
#include "common/folder_lock.hpp"
#include "common/join_pairs.hpp"
#include "common/stop_signal.hpp"
#include "common/training_command_line.hpp"
#include "paper.hpp"

using namespace attn;

namespace {

std::filesystem::path file_of(const ExperimentOptions& options, const std::string& name, const char* side) {
  return options.folder() / (name + "." + side + ".txt");
}

/// Throws if a trained model has different settings than the command line asks for.
void check_given(const Options& options, const std::filesystem::path& folder) {
  const Metadata then = read_run_config(folder).settings;
  for (const auto& [name, value] : settings_of(options))
    if (const auto was = then.find(name); options.given.contains(name) && was != then.end())
      require(was->second == value, "the model in ", folder.string(), " was trained with ", name, " ", was->second,
              ", not ", value, ". Omit the option, or choose another folder (--output).");
}

}  // namespace

std::filesystem::path folder_of(const ExperimentOptions& options, const char* model) { return options.folder() / model; }

ParallelText kept_text(const ExperimentOptions& options, const std::string& name) {
  require(file_exists(file_of(options, name, "target")), options.folder().string(), " has no ", name,
          " text. Run the part train first, with the same --output.");
  return read_parallel(file_of(options, name, "source"), file_of(options, name, "target"));
}

void train_runs(Options options, const std::vector<ModelRun>& runs,
                const std::function<void(const TrainingText&)>& use_text, Index join) {
  std::vector<ModelRun> left;
  std::optional<CorpusTokenizers> tokenizers;
  for (const ModelRun& run : runs) {
    if (has_run(run.folder) && !tokenizers) tokenizers = tokenizers_of(read_run_config(run.folder));
    if (is_finished_run(run.folder)) {
      check_given(options, run.folder);
      std::cout << run.folder.filename().string() << " is trained already: " << run.folder.string() << "\n";
    } else {
      left.push_back(run);
    }
  }
  if (left.empty()) return;

  TrainingText texts = read_texts(options);
  if (join > 0)
    for (ParallelText* text : {&texts.training, &texts.validation, &texts.test}) *text = join_pairs(*text, join);
  apply_recipe(options, texts.pairs());  // for a Linformer; the Transformer shares its sizes
  Communicator alone;
  const TrainingCorpus corpus = encode_texts(options, texts, tokenizers, alone);
  std::cout << "settings: " << describe(options) << std::endl;
  if (use_text) use_text(texts);
  for (const ModelRun& run : left) {
    options.model = run.model;
    options.output = run.folder;
    const FolderLock lock(options.output);
    options.resume = has_run(options.output) && file_exists(options.output / "training.safetensors");
    const auto before = options.resume ? std::optional(read_run_config(options.output)) : std::nullopt;
    std::cout << "\n" << run.folder.filename().string() << "\n";
    if (!train(options, texts, corpus, before, alone)) return;
  }
}

void train_models(const ExperimentOptions& experiment) {
  std::vector<ModelRun> runs;
  for (const PaperModel& model : paper_models) runs.push_back({model.name, folder_of(experiment, model.name)});
  train_runs(experiment.training, runs, [&](const TrainingText& texts) {
    for (const auto& [name, text] : {std::pair("test", &texts.test), {"validation", &texts.validation}}) {
      write_lines(file_of(experiment, name, "source"), text->source);
      write_lines(file_of(experiment, name, "target"), text->target);
    }
  });
}
