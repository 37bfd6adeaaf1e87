#pragma once
#include <functional>

#include "attn/data/parallel_text.hpp"
#include "options.hpp"

/// A model to train (a value of --model), and its folder.
struct ModelRun {
  std::string model;
  std::filesystem::path folder;
};

/// Trains the models that are not finished and resumes stopped ones, as long as no signal stops them. Reads and encodes
/// the text once, joins pairs to at most `join` words per side if not 0, and calls `use_text` before training.
void train_runs(Options options, const std::vector<ModelRun>& runs,
                const std::function<void(const attn::TrainingText&)>& use_text = {}, attn::Index join = 0);

/// The folder of one of the paper's models.
std::filesystem::path folder_of(const ExperimentOptions& options, const char* model);

/// Trains the paper's models. Writes the test and validation texts to the folder.
void train_models(const ExperimentOptions& options);

/// A text that train_models wrote, "test" or "validation".
attn::ParallelText kept_text(const ExperimentOptions& options, const std::string& name);
