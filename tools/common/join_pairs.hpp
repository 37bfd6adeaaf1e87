#pragma once
#include <algorithm>
#include <string>

#include "attn/data/parallel_text.hpp"

namespace attn {

/// Joins consecutive pairs of a text to longer ones of at most `words` words per side. Spaces and tabs separate words. Every
/// pair is kept; one that is longer by itself stays alone.
inline ParallelText join_pairs(const ParallelText& text, Index words) {
  const auto count = [](const std::string& line) {
    const auto space = [](char c) { return c == ' ' || c == '\t'; };
    Index found = 0;
    for (std::size_t i = 0; i < line.size(); ++i) found += !space(line[i]) && (i == 0 || space(line[i - 1])) ? 1 : 0;
    return found;
  };
  ParallelText joined;
  Index source_words = 0, target_words = 0;
  for (std::size_t i = 0; i < text.source.size(); ++i) {
    const Index source = count(text.source[i]), target = count(text.target[i]);
    source_words += source, target_words += target;
    if (i == 0 || std::max(source_words, target_words) > words) {
      joined.source.push_back(text.source[i]), joined.target.push_back(text.target[i]);
      source_words = source, target_words = target;
    } else {
      joined.source.back() += " " + text.source[i], joined.target.back() += " " + text.target[i];
    }
  }
  return joined;
}

}  // namespace attn
