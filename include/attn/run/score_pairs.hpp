#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "attn/data/parallel_corpus.hpp"
#include "attn/metrics/perplexity.hpp"
#include "attn/run/open_translator.hpp"

namespace attn {

/// How probable a translation is to a model, given its source.
struct PairScore {
  double log_probability = 0;  // natural logarithm, of all its tokens and of its end
  Index tokens = 0;            // these
};

/// Scores every pair of a text. Of sentences with more tokens than the model's training has seen, the first ones count:
/// those that card().truncate keeps.
inline std::vector<PairScore> score_pairs(const FolderTranslator& translator, const ParallelText& text) {
  const RunCard& card = translator.card();
  const ParallelCorpus pairs = encode_corpus(text, card.source, card.target, card.truncate);
  const SpecialTokens special_tokens = special_tokens_of(card.source, card.target);
  constexpr Index kAtOnce = 64;
  std::vector<PairScore> scores;
  for (Index first = 0; first < pairs.size(); first += kAtOnce) {
    Sentences source, target;
    for (Index i = first; i < std::min(first + kAtOnce, pairs.size()); ++i) {
      source.push_back(pairs.source[i]);
      target.push_back(pairs.target[i]);
    }
    for (const std::vector<double>& tokens : translator.model().log_probabilities(special_tokens, source, target))
      scores.push_back({std::accumulate(tokens.begin(), tokens.end(), 0.0), std::ssize(tokens)});
  }
  return scores;
}

/// Of all pairs together.
inline Perplexity perplexity_of(const std::vector<PairScore>& pairs) {
  Perplexity all;
  for (const PairScore& pair : pairs) all.add(-pair.log_probability, pair.tokens);
  return all;
}

}  // namespace attn
