#pragma once
#include <map>

#include "attn/checkpoint/safetensors.hpp"
#include "attn/ops/optimisers.hpp"
#include "attn/train/train_options.hpp"

/// A row of an experiment's table: a model and the paper's results for it.
struct Row {
  std::string name, title;
  std::string model;                         // name in the model registry
  std::map<std::string, double> bleu;        // the paper's BLEU by test set
  double perplexity = 0, training_loss = 0;  // the paper's, or 0
  std::string note = "";                     // printed below the table
};

/// Training and decoding settings of an experiment. The defaults are the paper's; the command line overrides them.
struct Recipe {
  attn::BatchOptions batches;
  attn::AdamOptions adam;
  attn::TrainOptions train;  // validate_every: batches per epoch; 0: one pass over the text
  double rate = 0;
  attn::Index limit = 0;           // tokens per translation
  bool unknown = false;            // whether translations may contain <unk>
  attn::Index training_pairs = 0;  // maximum; 0: all

  /// All settings as text, keyed by option name.
  attn::Metadata settings() const;
};

struct Scores {
  double paper = 0;  // BLEU as the experiment's paper computed it
  double sacrebleu = 0;
};

/// A paper's comparison of models.
struct Experiment {
  using Lines = std::vector<std::string>;

  std::string name;
  Recipe recipe;
  std::vector<Row> rows;
  std::string paper_bleu;  // description of the paper's BLEU
  Scores (*score)(const Lines& translations, const Lines& references, attn::Index limit);
};

/// "attention" or "coursework".
const Experiment& experiment(const std::string& name);
