#pragma once
#include <filesystem>
#include <string>

#include "attn/core/types.hpp"
#include "statistical/stack_decoder.hpp"

/// The command line of `statistical`.
struct Options {
  std::filesystem::path data = "../shared/data";
  std::filesystem::path output = "runs/statistical";
  std::filesystem::path neural;          // coursework.json of europarl_train; empty: no rows of it
  std::filesystem::path language_model;  // of an earlier run; empty: train one
  attn::Index training_pairs = 0;        // 0: all
  attn::Index iterations = 5;            // of IBM model 1
  attn::Index epochs = 6;                // of the language model, at most
  attn::Index word_options = 10;         // of a source word
  // Chosen on the validation text: docs/results/README.md.
  statistical::StackOptions weighted{.language_weight = 0.5, .word_reward = 3, .distortion_weight = 0.3};
  bool validation = false;  // translate the validation text instead of the test text
  int threads = 0;
  std::string command;  // as typed
};

/// Reads the command line. Prints help or an error and exits if there is nothing else to do.
Options read_options(int count, char** words);
