#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "attn/core/types.hpp"
#include "wmt14_train/options.hpp"

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

/// Reads the command line. Prints help or an error and exits if there is nothing else to do.
ExperimentOptions read_options(int count, char** words);
