#pragma once
#include "options.hpp"

/// Writes test sentences with references and the models' translations to samples.md: first the paper's examples that are in
/// the test text, then evenly spaced sentences.
void write_samples(const ExperimentOptions& options);
