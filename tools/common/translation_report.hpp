#pragma once
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "attn/core/format_count.hpp"
#include "attn/data/word_alignments.hpp"
#include "attn/decode/repetition.hpp"
#include "attn/decode/translate_lines.hpp"

namespace attn {

/// Formats a score for output.
inline std::string format_score(double score) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", score);
  return text;
}

/// Formats links as "0-0 1-2": source and target word indices from 0.
inline std::string format_links(std::span<const WordLink> links) {
  std::string text;
  for (const WordLink& link : links)
    text += (text.empty() ? "" : " ") + std::to_string(link.source) + "-" + std::to_string(link.target);
  return text;
}

/// Joins output fields with the separator of Moses and Marian.
inline std::string join_fields(std::span<const std::string> fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i > 0 ? " ||| " : "") + fields[i];
  return line;
}

/// Counts translations that did not end before the limit, usually because they repeat themselves.
class UnfinishedTranslations {
 public:
  void add(Index line, const Translation& translation) {
    if (translation.complete()) return;
    if (first_.size() < 5) first_.push_back(line);
    ++count_;
    repeating_ += repeated_ending(translation.target) > 0 ? 1 : 0;
  }

  Index count() const { return count_; }
  Index repeating() const { return repeating_; }

  /// A one-sentence summary; "" if all translations ended.
  std::string to_string(Index limit) const {
    if (count_ == 0) return "";
    std::string text = counted(count_, "translation") + " did not end within the limit of " + counted(limit, "token");
    if (repeating_ > 0)
      text += count_ == 1 ? ", because it repeats itself"
                          : ", " + std::to_string(repeating_) + " of them because they repeat themselves";
    text += count_ == 1 ? ": line" : count_ > static_cast<Index>(first_.size()) ? ": the first are of lines" : ": lines";
    for (std::size_t i = 0; i < first_.size(); ++i) text += (i > 0 ? ", " : " ") + std::to_string(first_[i]);
    return text;
  }

 private:
  Index count_ = 0, repeating_ = 0;
  std::vector<Index> first_;
};

}  // namespace attn
