#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attn/run/device_options.hpp"
#include "attn/run/print_translation.hpp"
#include "attn/run/search_changes.hpp"

/// Everything that translate can be told.
struct Options {
  attn::DeviceOptions device;
  std::filesystem::path model;
  std::filesystem::path text;       // none: standard input
  std::filesystem::path reference;  // none: the model's own translations
  std::filesystem::path maps;       // none: no maps
  std::filesystem::path align;      // none: no alignment error rate
  std::string link_order = "source-target";
  std::int64_t limit = 0;                       // tokens of a translation; 0: as the model's folder says
  std::int64_t together = 1024;                 // lines translated at a time at most
  attn::SearchChanges search;                   // of what the model's folder says
  std::vector<std::filesystem::path> ensemble;  // further models
  std::filesystem::path shortlist;              // none: translations are made of all tokens
  std::int64_t shortlist_words = 50;            // translations of each source token on it
  std::filesystem::path draw;                   // none: no tree
  attn::PrintOptions print;
};

/// Reads the command line; prints help or what is wrong and ends the program where that is all there is to do.
Options read_options(int count, char** words);
