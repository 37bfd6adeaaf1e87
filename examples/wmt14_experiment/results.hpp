#pragma once
#include "options.hpp"

/// Writes tables 3 and 4 of the fully trained models to tables.md and prints them.
void write_tables(const ExperimentOptions& options);

/// Writes test sentences with references and the models' translations to samples.md: first the paper's examples that are in
/// the test text, then evenly spaced sentences.
void write_samples(const ExperimentOptions& options);

/// Writes the cumulative share of the singular values of attention matrices, averaged over heads and validation sentences.
/// Covers every layer of the Transformer, trained and untrained (singular-values.tsv); plots the encoder
/// (singular-values.svg). Does nothing if both files are newer than the weights.
void write_singular_values(const ExperimentOptions& options);

/// Measures forward passes with a constant number of tokens and varying sentence length (inference.tsv; keeps existing
/// times of the same device). Draws figure 1 (encoder-decoder) and figure 2 (encoder) with the paper's times and, if
/// present, PyTorch's.
void draw_figures(const ExperimentOptions& options);

/// Trains a Linformer for each k and each maximum sentence length. Writes k.tsv and k.svg: validation loss and BLEU against
/// k, to test the paper's claim that k need not grow with the length of the sentences.
void sweep_projections(const ExperimentOptions& options);
