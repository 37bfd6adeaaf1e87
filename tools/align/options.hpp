#pragma once
#include <filesystem>

#include "attn/data/parallel_text.hpp"

struct Options {
  std::filesystem::path source, target, gold, save, tokens;
  std::vector<std::filesystem::path> pairs;
  std::string link_order = "source-target", symmetrize = "grow-diag-final-and";
  attn::Index first = 0, iterations = 5;
  double prune_below = 1e-6;
  int threads = 0;
  bool raw = false;
};

Options read_options(int count, char** words);

/// Reads two files, plain or compressed, as lines of words.
attn::ParallelText read_text(const Options& options, const std::filesystem::path& source,
                             const std::filesystem::path& target);
