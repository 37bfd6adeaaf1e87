#pragma once
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "attn/run/device_options.hpp"
#include "attn/train/safetensors.hpp"

namespace CLI {
class App;
}

/// Everything that wmt14_train can be told. What it is not told follows from the text: see recipe.hpp.
struct Options {
  // text: none given means the bundled corpus, which is generated
  std::vector<std::filesystem::path> train_source, train_target;
  std::filesystem::path shards;  // or a folder of them, made by tokenize
  std::filesystem::path valid_source, valid_target, test_source, test_target;
  std::optional<std::int64_t> generated_pairs;  // of the bundled corpus: 56,000 unless told
  std::int64_t truncate = 256;
  std::filesystem::path vocab, merges;  // none given: learnt from the training text
  std::int64_t vocabulary = 0;          // tokens to learn

  // model
  std::string model = "transformer", size, norm;
  double dropout = 0, attention_dropout = 0, activation_dropout = 0;
  bool shared = true;

  // training
  std::string recipe = "library";
  std::int64_t epochs = 0, batch = 0, accumulate = 1, patience = 0, validate_every = 0, warmup = 0;
  std::string batch_unit, order, schedule;
  double rate = 0, smoothing = 0.1, clip = 1, weight_decay = 0;
  std::string smoothing_over = "all";
  bool amsgrad = false;
  std::string bad_numbers = "stop";
  bool shard_optimiser = false, sums_after = false;
  std::string sums = "auto";
  std::string validate_with = "loss";
  double average_decay = 0;
  std::int64_t average_best = 0;
  std::int64_t test_beam = 1;
  std::uint64_t seed = 1;

  // results
  std::filesystem::path start_from;
  std::filesystem::path output = "runs/wmt14";
  bool resume = false, overwrite = false;
  std::ostream* json = nullptr;  // gets the lines of the log too; none: words alone
  std::int64_t limit = 256;

  attn::DeviceOptions device;
  std::set<std::string> given;      // names of the options that the command line or a file has
  std::set<std::string> suggested;  // and of those that the recipe has filled in
  std::string command;              // as it was typed

  bool bundled() const { return train_source.empty() && shards.empty(); }
  /// The model's registered name.
  std::string model_name() const;
  /// All options of the model and the training by name, as text.
  attn::Metadata settings() const;
  /// Those of them that were given or suggested, in one line, for people.
  std::string describe() const;
};

/// Groups of options, for a command line.
void add_text_options(CLI::App& app, Options& options);
void add_model_name(CLI::App& app, Options& options);
void add_model_options(CLI::App& app, Options& options);
void add_training_options(CLI::App& app, Options& options);  // and the device's

/// What must fit together; throws CLI::ValidationError.
void check_options(const Options& options);

/// Fills in which options the command line has, once it is read.
void note_given(const CLI::App& app, Options& options);
