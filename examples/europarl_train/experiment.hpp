#pragma once
#include <map>
#include <string>
#include <vector>

#include "attn/ops/adam.hpp"
#include "attn/train/safetensors.hpp"
#include "attn/train/train_options.hpp"

/// A row of an experiment's table: a model, and what the paper says about it.
struct Row {
  std::string name, title;
  std::string model;                         // its name in the registry
  std::map<std::string, double> bleu;        // the paper's, by test
  double perplexity = 0, training_loss = 0;  // the paper's, or 0
};

/// How an experiment trains and translates; the paper's own settings until the command line says otherwise.
struct Recipe {
  attn::BatchOptions batches;
  attn::AdamOptions adam;
  attn::TrainOptions train;  // validate_every is an epoch in batches; 0: one pass over the text
  double rate = 0;
  attn::Index limit = 0;           // words of a translation
  bool unknown = false;            // whether a translation may hold <unk>
  attn::Index training_pairs = 0;  // the most; 0: all

  /// All of it by the options' names, as text.
  attn::Metadata settings() const;
};

struct Scores {
  double paper = 0;  // BLEU as the experiment's paper computed it
  double sacrebleu = 0;
};

/// A paper's comparison.
struct Experiment {
  using Lines = std::vector<std::string>;

  std::string name;
  Recipe recipe;
  std::vector<Row> rows;
  std::string paper_bleu;  // how the paper computed BLEU, in words
  Scores (*score)(const Lines& translations, const Lines& references, attn::Index limit);
};

/// "attention" or "coursework".
const Experiment& experiment(const std::string& name);
