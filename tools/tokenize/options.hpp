#pragma once
#include <filesystem>

#include "attn/data/pair_stream.hpp"
#include "attn/data/shard_maker.hpp"

/// Command-line options of tokenize.
struct Options {
  std::filesystem::path folder;  // output folder for the shards
  attn::PairText text;
  attn::ShardOptions shards;
  std::filesystem::path vocab, merges;  // none: learned from the text
  attn::Index vocabulary = 32'000;      // vocabulary size to learn
  bool separate = false;                // one tokenizer per side
  bool overwrite = false;               // replace a different corpus in the folder
};

/// Reads the command line. Prints help or an error and exits if there is nothing else to do.
Options read_options(int count, char** words);

/// A text description of a corpus: checksum of all text bytes, tokenizer and rules. Corpora with equal descriptions are
/// equal, regardless of file location. Empty for a pipe, which can be read only once.
std::string made_of(const Options& options);
