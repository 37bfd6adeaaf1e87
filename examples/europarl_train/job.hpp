#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/run/run_folder.hpp"
#include "attn/run/training_run.hpp"
#include "attn/train/parallel_progress.hpp"
#include "corpus.hpp"
#include "options.hpp"
#include "rows.hpp"

/// One run: a row, a seed, and what it shares with the others.
struct Job {
  const Options& options;
  const Corpus& corpus;
  attn::ParallelProgress& progress;
  const Row& row;
  std::uint64_t seed;
  int threads;  // of the CPU

  std::string name() const { return row.name + " " + std::to_string(seed); }
  std::filesystem::path group() const { return options.output / options.experiment; }
  std::filesystem::path folder() const { return group() / row.name / ("seed" + std::to_string(seed)); }
  bool finished() const { return std::filesystem::exists(folder() / "outcome.json"); }
  bool begun() const { return std::filesystem::exists(folder() / "training.safetensors"); }
};

/// From the recipe to the settings of the library.
attn::TrainingRun training_run(const Job& job, const attn::Metadata& settings);

/// What model.json says.
attn::RunCard run_card(const Job& job);

/// Trains the row's model, translates the tests with its last weights and its best, scores that, and writes outcome.json.
void run(const Job& job);
