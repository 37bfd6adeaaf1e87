#pragma once
#include "attn/run/model_spec.hpp"
#include "attn/run/training_run.hpp"
#include "corpus.hpp"

// From the words of the command line to the settings of the library.

attn::ModelSpec model_spec(const Options& options, const Corpus& corpus);

/// What a run that goes on must have in common with the one that was stopped.
attn::Metadata settings_of(const Options& options, const Corpus& corpus);

attn::TrainingRun training_run(const Options& options, const Corpus& corpus, const attn::Metadata& settings);
