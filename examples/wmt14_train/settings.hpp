#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "attn/run/model_spec.hpp"
#include "attn/run/training_run.hpp"
#include "corpus.hpp"

// From the words of the command line to the settings of the library.

attn::ModelSpec model_spec(const Options& options, const Corpus& corpus);

/// What a run that goes on must have in common with the one that was stopped.
attn::Metadata settings_of(const Options& options, const Corpus& corpus);

attn::TrainingRun training_run(const Options& options, const Corpus& corpus, const attn::Metadata& settings);

/// Prints a line of the log where JSON is asked for.
void print_line(const Options& options, const std::string& line);

/// Adds an event to the log after the training, and prints it so.
void note(const Options& options, const nlohmann::json& event);
