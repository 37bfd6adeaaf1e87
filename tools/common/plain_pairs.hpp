#pragma once
#include "attn/core/types.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/text/plain_words.hpp"

namespace attn {

/// Selects the sentence pairs of Chittersu ("Attention Mechanisms in Neural Machine Translation"). The paper says 'length
/// less than twenty' and 'fifteen is used as limit'. Its dev and test sets show the actual rule: lines of 6 to 19 spaces (7
/// to 20 raw words), neither side with 1.5 times the spaces of the other, then at most 18 plain words, 20 with the special
/// tokens.
struct PairLimits {
  Index fewest_spaces = 6, most_spaces = 19;
  double ratio = 1.5;
  Index most_words = 18;
};

struct PlainPair {
  std::string source, target;
};

/// Whether the lengths of two raw lines are within the limits.
inline bool within(const PairLimits& limits, std::string_view source, std::string_view target) {
  const auto spaces = [](std::string_view line) {
    return std::count_if(line.begin(), line.end(), [](char byte) { return byte == ' ' || byte == '\t'; });
  };
  const auto [fewer, more] = std::minmax({spaces(source), spaces(target)});
  return fewer >= limits.fewest_spaces && more <= limits.most_spaces &&
         static_cast<double>(more) < limits.ratio * static_cast<double>(fewer);
}

/// The plain words (attn/text/plain_words.hpp) of a pair of raw lines; empty if the pair is outside the limits.
inline std::optional<PlainPair> plain_pair(std::string_view source, Language source_language, std::string_view target,
                                           Language target_language, const PairLimits& limits = {}) {
  if (!within(limits, source, target)) return std::nullopt;
  PlainPair pair{plain_words(source, source_language), plain_words(target, target_language)};
  for (const std::string& side : {std::cref(pair.source), std::cref(pair.target)})
    if (side.empty() || std::count(side.begin(), side.end(), ' ') >= limits.most_words) return std::nullopt;
  return pair;
}

/// The plain pairs of a raw text, in order.
inline ParallelText plain_pairs(const ParallelText& raw, Language source_language, Language target_language,
                                const PairLimits& limits = {}) {
  ParallelText plain;
  for (std::size_t i = 0; i < raw.source.size(); ++i)
    if (auto pair = plain_pair(raw.source[i], source_language, raw.target[i], target_language, limits)) {
      plain.source.push_back(std::move(pair->source));
      plain.target.push_back(std::move(pair->target));
    }
  return plain;
}

}  // namespace attn
