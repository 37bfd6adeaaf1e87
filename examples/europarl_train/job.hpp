#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/data/batches.hpp"
#include "attn/train/safetensors.hpp"
#include "attn/train/trainer.hpp"
#include "board.hpp"
#include "corpus.hpp"
#include "options.hpp"
#include "rows.hpp"

/// One run: a row, a seed, and what it shares with the others.
struct Job {
  const Options& options;
  const Corpus& corpus;
  Board& board;
  const Row& row;
  std::uint64_t seed;
  int threads;  // of the CPU

  std::string name() const { return row.name + " " + std::to_string(seed); }
  std::filesystem::path group() const { return options.output / options.experiment; }
  std::filesystem::path folder() const { return group() / row.name / ("seed" + std::to_string(seed)); }
  bool finished() const { return std::filesystem::exists(folder() / "outcome.json"); }
  bool begun() const { return std::filesystem::exists(folder() / "training.safetensors"); }
};

// From the recipe to the settings of the library.

attn::BatchOptions training_batches(const Job& job);
attn::BatchOptions validation_batches(const Job& job);
attn::AdamOptions adam_options(const Job& job);
attn::TrainOptions train_options(const Job& job);
attn::Index most_steps(const Job& job, attn::Index batches_per_epoch);

/// What a checkpoint says about itself.
attn::Metadata describe(const Job& job);

/// Writes what it takes to use the model beside it: model.json and the two vocabularies.
void write_model_card(const Job& job, attn::Index parameters);

using Translations = std::vector<std::vector<std::string>>;  // of each test

/// Scores the translations by the model of the best epoch and by that of the last, and writes the former and outcome.json.
void finish(const Job& job, attn::Index parameters, const std::string& device, const Translations& best,
            const Translations& last);
