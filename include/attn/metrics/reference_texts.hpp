#pragma once
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"
#include "attn/version.hpp"

namespace attn::detail {

/// printf into a string.
template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), ' ');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

/// How a score was computed, as sacreBLEU writes it: `more` stands between the number of references and the metric's
/// fields.
inline std::string signature(Index references, const std::string& fields, const std::string& more = "") {
  return "nrefs:" + std::to_string(references) + more + "|" + fields + "|version:attn-" ATTN_VERSION;
}

/// Calls visit(hypothesis, its references) for each sentence. Each element of `references` is a text of as many sentences
/// as there are hypotheses; `who` begins the sentence that says what does not fit.
template <class Visit>
void for_each_scored(const char* who, std::span<const std::string> hypotheses,
                     std::span<const std::vector<std::string>> references, Visit&& visit) {
  require(!references.empty(), who, ": there is no reference; give at least one text");
  for (const auto& text : references)
    require(hypotheses.size() == text.size(), who, ": ", hypotheses.size(), " hypotheses but ", text.size(),
            " references; give one reference for each hypothesis, in the same order");
  require(!hypotheses.empty(), who, ": there are no sentences to score; give at least one");
  std::vector<std::string> wanted(references.size());
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    for (std::size_t r = 0; r < references.size(); ++r) wanted[r] = references[r][i];
    visit(hypotheses[i], wanted);
  }
}

}  // namespace attn::detail
