#pragma once
#include "options.hpp"

/// Writes how much of the sum of an attention matrix's singular values the largest of them make up, mean over heads and
/// validation sentences: every layer's of the Transformer, trained and with its first weights, to singular-values.tsv, and
/// the encoder's as singular-values.svg. Does nothing where both are newer than the weights.
void write_singular_values(const ExperimentOptions& options);
