#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attn/data/pair_stream.hpp"
#include "attn/data/shard_maker.hpp"

/// Everything that tokenize can be told.
struct Options {
  std::filesystem::path folder;  // gets the shards
  attn::PairText text;
  attn::ShardOptions shards;
  std::filesystem::path vocab, merges;  // none given: learnt from the text
  attn::Index vocabulary = 32'000;      // tokens to learn
  bool separate = false;                // a tokenizer for each side
  bool overwrite = false;               // another corpus in the folder
};

/// Reads the command line; prints help or what is wrong and ends the program where that is all there is to do.
Options read_options(int count, char** words);
