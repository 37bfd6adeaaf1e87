#pragma once
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "attn/checkpoint/json.hpp"
#include "attn/run/open_translator.hpp"
#include "common/translation_report.hpp"

namespace attn {

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
