#include "train_models.hpp"

#include <iostream>

#include "attn/core/file.hpp"
#include "common/begin_run.hpp"
#include "common/earlier_run.hpp"
#include "common/folder_lock.hpp"
#include "common/stop_signal.hpp"
#include "common/training_command_line.hpp"
#include "paper.hpp"
#include "wmt14_train/options.hpp"
#include "wmt14_train/training.hpp"

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

void train_models(const ExperimentOptions& experiment) {
  Options options = experiment.training;
  std::vector<const char*> left;
  std::optional<CorpusTokenizers> tokenizers;
  for (const PaperModel& model : paper_models) {
    const auto folder = folder_of(experiment, model.name);
    if (has_run(folder) && !tokenizers) tokenizers = tokenizers_of(read_run_config(folder));
    if (is_finished_run(folder)) {
      check_given(options, folder);
      std::cout << model.name << " is trained already: " << folder.string() << "\n";
    } else {
      left.push_back(model.name);
    }
  }
  if (left.empty()) return;

  TrainingText texts = read_texts(options);
  apply_recipe(options, texts.pairs());  // for a Linformer; the Transformer shares its sizes
  Communicator alone;
  const TrainingCorpus corpus = encode_texts(options, texts, tokenizers, alone);
  std::cout << "settings: " << describe(options) << std::endl;
  for (const auto& [name, text] : {std::pair("test", &texts.test), {"validation", &texts.validation}}) {
    write_lines(file_of(experiment, name, "source"), text->source);
    write_lines(file_of(experiment, name, "target"), text->target);
  }
  for (const char* name : left) {
    options.model = name;
    options.output = folder_of(experiment, name);
    const FolderLock lock(options.output);
    options.resume = has_run(options.output) && file_exists(options.output / "training.safetensors");
    const auto before = options.resume ? std::optional(read_run_config(options.output)) : std::nullopt;
    std::cout << "\n" << name << "\n";
    if (!train(options, texts, corpus, before, alone)) return;
  }
}
