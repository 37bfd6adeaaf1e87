#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "model_names.hpp"
#include "place.hpp"

/// Everything that wmt14_train can be told, with what it does when it is told nothing. With the bundled corpus some of it
/// is otherwise: see read_options.
struct Options : Place {
  // text: none given means the bundled corpus, which is generated
  std::filesystem::path train_source, train_target, valid_source, valid_target, test_source, test_target;
  std::int64_t generated_pairs = 56'000;
  std::int64_t truncate = 256;
  std::filesystem::path vocab, merges;  // none given: learnt from the training text
  std::int64_t vocabulary = 32'000;     // tokens to learn

  // model
  std::string model = "transformer", size = "small";
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  bool shared = true;

  // training
  std::int64_t epochs = 10, batch = 64, accumulate = 1, patience = 0, validate_every = 0;
  std::string batch_unit = "sentences", order = "pooled";
  std::string schedule = "warmup-cosine";
  double rate = 2e-3, smoothing = 0.1, clip = 1, weight_decay = 0;
  std::int64_t warmup = 200;
  std::uint64_t seed = 1;

  // results
  std::filesystem::path output = "runs/wmt14";
  bool resume = false;
  std::int64_t limit = 256;

  bool bundled() const { return train_source.empty(); }
  bool recurrent() const { return is_recurrent(model); }
};

/// Reads the command line; prints help or what is wrong and ends the program where that is all there is to do.
Options read_options(int count, char** words);
