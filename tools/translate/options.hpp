#pragma once
#include <filesystem>

#include "attn/run/device_options.hpp"
#include "common/print_translation.hpp"
#include "common/search_changes.hpp"

namespace attn::translate_tool {

/// Command-line options of translate.
struct Options {
  DeviceOptions device;
  std::filesystem::path model;
  std::filesystem::path text;       // empty: standard input
  std::filesystem::path reference;  // empty: the model's own translations
  std::filesystem::path maps;       // empty: no maps
  std::filesystem::path align;      // empty: no alignment error rate
  std::string link_order = "source-target";
  std::int64_t limit = 0;                       // maximum tokens per translation; 0: the model folder's limit
  std::int64_t batch_lines = 0;                 // maximum lines per batch; 0: chosen for the device
  SearchChanges search;                         // changes to the model folder's search options
  std::vector<std::filesystem::path> ensemble;  // additional models
  std::filesystem::path shortlist;              // empty: the output may use all tokens
  std::int64_t shortlist_words = 50;            // shortlisted translations per source token
  bool never_unknown = false;                   // never output <unk>
  bool replace_unknown = false;                 // replace <unk> by its attended source word or that word's translation
  std::filesystem::path unknown_tables;         // from `align --save`; empty: copy the source word
  std::filesystem::path draw;                   // empty: no tree
  PrintOptions print;
};

/// Reads the command line. Prints help or an error and exits if there is nothing else to do.
Options read_options(int count, char** words);

/// Translates the text line by line to standard output. Writes attention maps if the options name a folder.
void translate_text(const Options& options, FolderTranslator& translator);

/// Runs the model on the text and given translations: writes attention maps and the alignment error rate of each layer.
void look_at_pairs(const Options& options, const FolderTranslator& translator);

}  // namespace attn::translate_tool
