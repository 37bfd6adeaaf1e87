#pragma once
#include <array>
#include <optional>
#include <string>

#include "common/training_options.hpp"

namespace CLI {
class App;
}

enum class RecipeKind { library, best, paper };
template <>
inline constexpr std::array<attn::SettingName<RecipeKind>, 3> attn::setting_names<RecipeKind>{
    {{"library", RecipeKind::library}, {"best", RecipeKind::best}, {"paper", RecipeKind::paper}}};

/// The command line of wmt14_train. Missing options follow from the text: see apply_recipe.
struct Options : attn::TrainingOptions {
  RecipeKind recipe = RecipeKind::library;     // for options that are not given
  std::optional<attn::Index> generated_pairs;  // size of the bundled corpus; default 56,000
  std::string command;                         // as typed

  bool bundled() const { return text.train_source.empty() && text.shards.empty(); }
};

/// Option groups that replace the library's.
void add_text_options(CLI::App& app, Options& options);
void add_model_name(CLI::App& app, Options& options);
void add_training_options(CLI::App& app, Options& options);

/// Records the given options and checks their combinations. Throws CLI::ValidationError.
void check_options(const CLI::App& app, Options& options);

/// Fills in options that the command line leaves open, by the size of the training text in pairs
/// (common/training_recipe.hpp). The generated corpus has its own recipe: it is small and regular, and training does not
/// repeat it often enough to overfit. The recipe `paper` is that of "Evaluating Linformer's performance on the WMT14 EN-DE
/// machine translation task", for any size.
void apply_recipe(Options& options, attn::Index pairs);
