#pragma once
#include "wmt14_train/training.hpp"

/// The command line of wmt14_experiment.
struct ExperimentOptions {
  std::vector<std::string> parts;  // empty: all but k
  Options training;                // of every model; training.output is the experiment's folder
  attn::Index samples = 12;        // sentences to show besides the paper's
  attn::Index matrices_of = 100;   // sentences to compute attention matrices for
  attn::Index figure_tokens = 0;   // per forward pass; 0: 16,384 on a GPU, 1,024 on a CPU
  attn::Index repeats = 10;        // forward passes per measurement
  std::vector<attn::Index> sweep_k{16, 32, 64, 128, 256}, sweep_tokens{64, 256};  // part k: k, and lengths of sentences
  std::vector<attn::Index> sweep_words;  // part k: words to join pairs to, for each length; empty: not joined
  std::filesystem::path pytorch;         // PyTorch's times; empty: pytorch.tsv in the folder, if it exists

  const std::filesystem::path& folder() const { return training.output; }
  bool wants(const std::string& part) const {
    return (parts.empty() && part != "k") || std::find(parts.begin(), parts.end(), part) != parts.end();
  }
};

/// A model to train (a value of --model), and its folder.
struct ModelRun {
  std::string model;
  std::filesystem::path folder;
};

/// Trains the models that are not finished and resumes stopped ones, as long as no signal stops them. Reads and encodes
/// the text once, joins pairs to at most `join` words per side if not 0, and calls `use_text` before training.
void train_runs(Options options, const std::vector<ModelRun>& runs,
                const std::function<void(const attn::TrainingText&)>& use_text = {}, attn::Index join = 0);

/// The folder of one of the paper's models.
std::filesystem::path folder_of(const ExperimentOptions& options, const char* model);

/// Trains the paper's models. Writes the test and validation texts to the folder.
void train_models(const ExperimentOptions& options);

/// A text that train_models wrote, "test" or "validation".
attn::ParallelText kept_text(const ExperimentOptions& options, const std::string& name);

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
