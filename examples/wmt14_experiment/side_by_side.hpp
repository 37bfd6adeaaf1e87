#pragma once
#include "options.hpp"

/// Writes test sentences, their references and the models' translations to samples.md: those that the paper shows, where
/// the test text has them, then some that are evenly spaced in it.
void write_samples(const ExperimentOptions& options);
