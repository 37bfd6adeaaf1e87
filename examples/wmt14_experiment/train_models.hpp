#pragma once
#include "attn/data/parallel_text.hpp"
#include "options.hpp"

/// The folder of a model.
std::filesystem::path folder_of(const ExperimentOptions& options, const char* model);

/// Trains those models that are not trained to their end, from where they were stopped, on text that is read and encoded
/// once; leaves the test and validation texts in the folder.
void train_models(const ExperimentOptions& options);

/// What train_models has left of a text, "test" or "validation".
attn::ParallelText kept_text(const ExperimentOptions& options, const std::string& name);
