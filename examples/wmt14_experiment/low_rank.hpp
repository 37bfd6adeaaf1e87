#pragma once
#include "options.hpp"

/// Writes the cumulative share of the singular values of attention matrices, averaged over heads and validation sentences.
/// Covers every layer of the Transformer, trained and untrained (singular-values.tsv); plots the encoder
/// (singular-values.svg). Does nothing if both files are newer than the weights.
void write_singular_values(const ExperimentOptions& options);
