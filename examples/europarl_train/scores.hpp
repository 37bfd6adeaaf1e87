#pragma once
#include <string>
#include <vector>

#include "options.hpp"

struct Scores {
  double paper = 0;  // BLEU as the experiment's paper computed it
  double sacrebleu = 0;
};

/// How the paper computed BLEU, in words.
std::string paper_bleu(const std::string& experiment);

Scores score(const Options& options, const std::vector<std::string>& translations,
             const std::vector<std::string>& references);
