#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attn/train/parallel_progress.hpp"
#include "options.hpp"
#include "papers/europarl_corpus.hpp"

/// One run: a row, a seed, and what it shares with the others.
struct Job {
  const Options& options;
  const papers::EuroparlCorpus& corpus;
  attn::ParallelProgress& progress;
  const Row& row;
  std::uint64_t seed;
  int threads;  // of the CPU

  std::string name() const { return row.name + " " + std::to_string(seed); }
  std::filesystem::path folder() const { return options.folder(row, seed); }
  bool finished() const { return std::filesystem::exists(folder() / "outcome.json"); }
  bool begun() const { return std::filesystem::exists(folder() / "training.safetensors"); }
};

/// All that decides what a run learns and how it is scored, as its model.json has it.
attn::Metadata settings_of(const Job& job);

/// Settings that a run may go on with though they were others when it began.
inline const std::vector<std::string> may_change{"epochs", "patience", "steps"};

/// Does nothing where the options pass over what is finished, with these settings. Trains the row's model, translates the tests with its last weights and its best, scores that, and writes outcome.json.
void run(const Job& job);
