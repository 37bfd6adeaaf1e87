#pragma once
#include "options.hpp"

/// Trains a Linformer for each k and each maximum sentence length. Writes k.tsv and k.svg: validation loss and BLEU against
/// k, to test the paper's claim that k need not grow with the length of the sentences.
void sweep_projections(const ExperimentOptions& options);
