#pragma once
#include <string>
#include <vector>

#include "attn/data/parallel_text.hpp"
#include "options.hpp"

/// A system that translated the test text.
struct System {
  std::string name, title;
  std::vector<std::string> translations;
  double bleu;     // multi-bleu.perl -lc
  double seconds;  // translation time
};

/// Writes statistical.md: BLEU of the systems, and of the neural models if the options name them. Writes samples.md: 20
/// evenly spaced sentences with all translations. Returns the table.
std::string write_results(const Options& options, const std::vector<System>& systems, const attn::ParallelText& text,
                          const std::string& models);
