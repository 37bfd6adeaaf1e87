#pragma once
#include "attn/metrics/bootstrap.hpp"
#include "attn/run/device_options.hpp"

struct Options {
  std::vector<std::string> references, systems, metrics{"bleu"};  // no systems: standard input
  std::optional<attn::BootstrapOptions> bootstrap;
  bool json = false;
  std::string model, source, target;  // run folder, and the pairs to score
  bool log_probabilities = false;     // print log P of each pair
  attn::DeviceOptions device;
};

Options read_options(int count, char** words);

/// Prints the perplexity of the target text given the source and, if requested, log P of each pair.
void score_given_pairs(const Options& options);
