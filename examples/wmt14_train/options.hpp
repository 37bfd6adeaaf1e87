#pragma once
#include <optional>
#include <string>

#include "attn/run/training_options.hpp"

namespace CLI {
class App;
}

/// Everything that wmt14_train can be told. What it is not told follows from the text: see recipe.hpp.
struct Options : attn::TrainingOptions {
  std::optional<attn::Index> generated_pairs;  // of the bundled corpus, which no text means: 56,000 unless told
  std::string command;                         // as it was typed

  bool bundled() const { return text.train_source.empty() && text.shards.empty(); }
};

/// Groups of options that are this program's, in place of the library's.
void add_text_options(CLI::App& app, Options& options);
void add_model_name(CLI::App& app, Options& options);
void add_training_options(CLI::App& app, Options& options);

/// What must fit together; throws CLI::ValidationError.
void check_options(const Options& options);
