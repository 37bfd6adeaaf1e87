#pragma once
#include <filesystem>
#include <span>
#include <string>

#include "attn/decode/attention_maps.hpp"
#include "text_side.hpp"

/// A folder of attention maps, a page for each sentence under its number, and a list of them.
class MapFolder {
 public:
  /// Makes the folder, which an option of the program named. The two languages are the model's.
  MapFolder(std::filesystem::path folder, const char* option, const TextSide& source, const TextSide& target);

  /// Draws the maps of sentence number `line`: of what was read, and of what was or had to be written.
  void add(attn::Index line, std::span<const attn::Token> source, std::span<const attn::Token> target,
           std::span<const attn::AttentionMap> maps);

  /// Writes the list.
  void finish() const;

 private:
  std::filesystem::path folder_;
  const TextSide &source_, &target_;
  std::string list_;
};
