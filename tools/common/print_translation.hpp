#pragma once
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>

#include "attn/checkpoint/json.hpp"
#include "attn/core/format_count.hpp"
#include "attn/data/word_alignments.hpp"
#include "attn/decode/repetition.hpp"
#include "attn/decode/translate_lines.hpp"
#include "attn/run/open_translator.hpp"

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

/// Output options in addition to the translated text.
struct PrintOptions {
  bool n_best = false;      // n-best list or samples
  bool scores = false;      // score of each hypothesis; n-best lists always include it
  bool alignments = false;  // word alignment from attention
  bool json = false;        // one JSON object per line
};

namespace detail {

/// Word links between a line and one of its translations; empty for a blank translation.
inline std::vector<WordLink> links(const FolderTranslator& translator, const Translation& translation,
                                   const Hypothesis& one) {
  return one.tokens.empty() ? std::vector<WordLink>() : translator.alignment(translation.source, one.tokens);
}

inline void print_text(std::ostream& out, const PrintOptions& options, const FolderTranslator& translator, Index number,
                       const Translation& translation) {
  const auto print_one = [&](const TranslatedHypothesis& one) {
    std::vector<std::string> fields;
    if (options.n_best) fields.push_back(std::to_string(number));
    fields.push_back(one.text);
    if (options.n_best || options.scores) fields.push_back(format_score(one.score));
    if (options.alignments) fields.push_back(format_links(links(translator, translation, one)));
    out << join_fields(fields) << '\n';
  };
  if (translation.n_best.empty()) print_one({});
  for (std::size_t i = 0; i < translation.n_best.size() && (i == 0 || options.n_best); ++i)
    print_one(translation.n_best[i]);
}

inline void print_json(std::ostream& out, const PrintOptions& options, const FolderTranslator& translator,
                       const std::string& line, const Translation& translation) {
  using Json = nlohmann::ordered_json;
  const auto described = [&](Json object, const TranslatedHypothesis& one) {
    object["translation"] = one.text;
    if (options.n_best || options.scores) object["score"] = one.score;
    if (options.alignments) {
      object["alignment"] = Json::array();
      for (const WordLink& link : links(translator, translation, one))
        object["alignment"].push_back({link.source, link.target});
    }
    object["complete"] = one.complete;
    return object;
  };
  const std::vector<TranslatedHypothesis> blank(1);
  const auto& best = translation.n_best.empty() ? blank : translation.n_best;
  Json object = described({{"source", line}}, best[0]);
  if (options.n_best) {
    object["n_best"] = Json::array();
    for (const TranslatedHypothesis& one : best) object["n_best"].push_back(described({}, one));
  }
  out << json_text(object) << '\n';
}

}  // namespace detail

/// Prints the translation of line `number` (from 0) as a line of text, as n-best lines "number ||| text ||| score |||
/// alignment" with the requested fields, or as a JSON object that includes the source line.
inline void print_translation(std::ostream& out, const PrintOptions& options, const FolderTranslator& translator,
                              Index number, const std::string& line, const Translation& translation) {
  if (options.json)
    detail::print_json(out, options, translator, line, translation);
  else
    detail::print_text(out, options, translator, number, translation);
}

}  // namespace attn
