#pragma once
#include "attn/data/parallel_text.hpp"
#include "options.hpp"

/// The folder of a model.
std::filesystem::path folder_of(const ExperimentOptions& options, const char* model);

/// Trains the models that are not finished and resumes stopped ones. Reads and encodes the text once. Writes the test and
/// validation texts to the folder.
void train_models(const ExperimentOptions& options);

/// A text that train_models wrote, "test" or "validation".
attn::ParallelText kept_text(const ExperimentOptions& options, const std::string& name);
