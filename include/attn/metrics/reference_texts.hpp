#pragma once
#include <span>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/format_count.hpp"
#include "attn/core/types.hpp"
#include "attn/version.hpp"

namespace attn::detail {

/// The sacreBLEU signature of a score. `more` goes between the number of references and the metric's fields.
inline std::string signature(Index references, const std::string& fields, const std::string& more = "") {
  return "nrefs:" + std::to_string(references) + more + "|" + fields + "|version:attn-" ATTN_VERSION;
}

/// Calls visit(hypothesis, its references) for each sentence. Each element of `references` has one sentence per hypothesis.
/// `who` prefixes error messages.
void for_each_scored(const char* who, std::span<const std::string> hypotheses,
                     std::span<const std::vector<std::string>> references, auto&& visit) {
  require(!references.empty(), who, ": no references. Pass at least one text.");
  for (const auto& text : references)
    require(hypotheses.size() == text.size(), who, ": ", hypotheses.size(), " hypotheses but ", text.size(),
            " references; give one reference for each hypothesis, in the same order");
  require(!hypotheses.empty(), who, ": no sentences to score. Pass at least one.");
  std::vector<std::string> wanted(references.size());
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    for (std::size_t r = 0; r < references.size(); ++r) wanted[r] = references[r][i];
    visit(hypotheses[i], wanted);
  }
}

}  // namespace attn::detail
