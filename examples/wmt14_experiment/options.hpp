#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "attn/core/types.hpp"
#include "wmt14_train/options.hpp"

/// Everything that wmt14_experiment can be told.
struct ExperimentOptions {
  std::vector<std::string> parts;  // none: all
  Options training;                // of every model; its output is the experiment's folder
  attn::Index samples = 12;        // sentences that are shown, beside the paper's
  attn::Index matrices_of = 100;   // sentences whose attention is looked at
  attn::Index figure_tokens = 0;   // of a forward pass; 0: 16,384 on a GPU, 1,024 on a CPU
  attn::Index repeats = 10;        // of a forward pass
  std::filesystem::path pytorch;   // its times; none: pytorch.tsv of the folder, if it is there

  const std::filesystem::path& folder() const { return training.output; }
  bool wants(const std::string& part) const {
    return parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end();
  }
};

/// Reads the command line; prints help or what is wrong and ends the program where that is all there is to do.
ExperimentOptions read_options(int count, char** words);
