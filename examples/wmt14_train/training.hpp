#pragma once
#include "attn/parallel/communicator.hpp"
#include "attn/run/run_folder.hpp"
#include "common/training_corpus.hpp"
#include "common/training_options.hpp"

// What wmt14_train and wmt14_experiment share: everything but the command line.

namespace CLI {
class App;
}

enum class RecipeKind { library, best, paper };
template <>
inline constexpr std::array<attn::SettingName<RecipeKind>, 3> attn::setting_names<RecipeKind>{
    {{"library", RecipeKind::library}, {"best", RecipeKind::best}, {"paper", RecipeKind::paper}}};

/// The options of wmt14_train. Missing ones follow from the text: see apply_recipe.
struct Options : attn::TrainingOptions {
  RecipeKind recipe = RecipeKind::library;     // for options that are not given
  std::optional<attn::Index> generated_pairs;  // size of the bundled corpus; default 56,000
  std::string command;                         // as typed

  bool bundled() const { return text.train_source.empty() && text.shards.empty(); }
};

/// Adds --config and the options of text, model, training and device.
void add_options(CLI::App& app, Options& options, bool with_model_name);

/// Records the given options and checks their combinations. Throws CLI::ValidationError.
void check_options(const CLI::App& app, Options& options);

/// Fills in options that the command line leaves open, by the size of the training text in pairs
/// (common/training_recipe.hpp). The generated corpus has its own recipe: it is small and regular, and training does not
/// repeat it often enough to overfit. The recipe `paper` is that of "Evaluating Linformer's performance on the WMT14 EN-DE
/// machine translation task", for any size.
void apply_recipe(Options& options, attn::Index pairs);

/// Reads the texts, or generates the bundled corpus.
attn::TrainingText read_texts(const Options& options);

attn::TrainingCorpus encode_texts(const Options& options, attn::TrainingText& texts,
                                  std::optional<attn::CorpusTokenizers> tokenizers, attn::Communicator& ranks);

/// Trains and tests (common/train_and_test.hpp), and records the program's commit and command. `before` is the config of
/// a resumed run; its command is kept next to the one that resumes it. Returns false if a signal stopped the training.
bool train(const Options& options, const attn::TrainingText& texts, const attn::TrainingCorpus& corpus,
           const std::optional<attn::RunConfig>& before, attn::Communicator& ranks);
