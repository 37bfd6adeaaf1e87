#pragma once
#include <filesystem>
#include <span>
#include <string>

#include "attn/decode/attention_map.hpp"
#include "attn/text/any_tokenizer.hpp"

/// A folder of attention maps, a page for each sentence under its number, and a list of them.
class MapFolder {
 public:
  /// Makes the folder. The two tokenizers are the model's.
  MapFolder(std::filesystem::path folder, attn::AnyTokenizer source, attn::AnyTokenizer target);

  /// Draws the maps of sentence number `line`: of what was read, and of what was or had to be written.
  void add(attn::Index line, std::span<const attn::Token> source, std::span<const attn::Token> target,
           std::span<const attn::AttentionMap> maps);

  /// Writes the list.
  void finish() const;

 private:
  std::filesystem::path folder_;
  attn::AnyTokenizer source_, target_;
  std::string list_;
};
