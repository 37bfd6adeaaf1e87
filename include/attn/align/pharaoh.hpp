#pragma once
#include "attn/data/word_alignments.hpp"

namespace attn {

/// Formats links in the Pharaoh format of phrase-based translation, source word first, words counting from 0:
/// 0-0 1-2 2-1
inline std::string pharaoh_line(std::span<const WordLink> links) {
  std::string line;
  for (const WordLink& link : links)
    line += (line.empty() ? "" : " ") + std::to_string(link.source) + "-" + std::to_string(link.target);
  return line;
}

}  // namespace attn
