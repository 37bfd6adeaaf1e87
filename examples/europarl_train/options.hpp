#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attn/run/device_options.hpp"

/// How an experiment trains and translates; the papers' own settings until the command line says otherwise.
struct Recipe {
  std::int64_t epochs, patience;    // patience 0: all epochs
  std::int64_t batches;             // of an epoch; 0: one pass over the text
  std::int64_t steps = 0;           // the most; 0: as many as the epochs have
  std::int64_t batch, pool;         // sentences of a batch; batches whose sentences are sorted together, 0: all
  double rate, clip, epsilon;       // of Adam
  bool amsgrad;                     //
  std::int64_t limit;               // words of a translation
  bool says_unknown;                // whether a translation may hold <unk>
  std::int64_t training_pairs = 0;  // the most; 0: all
};

/// Everything that europarl_train can be told.
struct Options {
  attn::DeviceOptions device;
  std::string experiment = "coursework";
  std::vector<std::string> rows;  // none: all of the experiment
  std::vector<std::uint64_t> seeds{1};
  int jobs = 1;  // runs at a time
  std::filesystem::path data = "../shared/data";
  Recipe recipe{};
  std::filesystem::path output = "runs/europarl";
  std::int64_t maps = 10;  // sentences
  bool resume = false;
  std::string command;  // as it was typed
};

/// Reads the command line; prints help or what is wrong and ends the program where that is all there is to do.
Options read_options(int count, char** words);
