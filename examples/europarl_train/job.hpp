#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attn/core/file.hpp"
#include "common/parallel_progress.hpp"
#include "options.hpp"
#include "papers/europarl_corpus.hpp"

/// One run: a row and a seed, with references to shared data.
struct Job {
  const Options& options;
  const papers::EuroparlCorpus& corpus;
  attn::ParallelProgress& progress;
  const Row& row;
  std::uint64_t seed;
  int threads;  // CPU threads

  std::string name() const { return row.name + " " + std::to_string(seed); }
  std::filesystem::path folder() const { return options.folder(row, seed); }
  bool finished() const { return attn::file_exists(folder() / "outcome.json"); }
  bool begun() const { return attn::file_exists(folder() / "training.safetensors"); }
};

/// All settings that determine the training and scoring of a run, as stored in model.json.
attn::Metadata settings_of(const Job& job);

/// Settings that may change when a run is resumed.
inline const std::vector<std::string> may_change{"epochs", "patience", "steps"};

/// Skips a run that is finished with these settings if the options say --resume. Otherwise trains the row's model,
/// translates the tests with the last and the best weights, scores the translations and writes outcome.json.
void run(const Job& job);
