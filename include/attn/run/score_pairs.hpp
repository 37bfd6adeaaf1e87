#pragma once
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "attn/data/parallel_corpus.hpp"
#include "attn/metrics/perplexity.hpp"
#include "attn/run/open_translator.hpp"

namespace attn {

/// How probable a translation is to a model, given its source.
struct PairScore {
  double log_probability = 0;  // natural logarithm, of all its tokens and of its end
  Index tokens = 0;            // these
  Index cut = 0;               // of the two sentences, those that have more tokens than count
};

/// Scores every pair of a text. Of sentences with more tokens than the model's training has seen, the first ones count:
/// those that card().truncate keeps.
inline std::vector<PairScore> score_pairs(const FolderTranslator& translator, const ParallelText& text) {
  const RunCard& card = translator.card();
  const ParallelCorpus pairs = encode_corpus(text, card.source, card.target);
  const SpecialTokens special_tokens = special_tokens_of(card.source, card.target);
  constexpr Index kAtOnce = 64;
  std::vector<PairScore> scores(text.source.size());
  for (Index first = 0; first < pairs.size(); first += kAtOnce) {
    Sentences source, target;
    for (Index i = first; i < std::min(first + kAtOnce, pairs.size()); ++i)
      for (const auto& [from, to] : {std::pair(pairs.source[i], &source), {pairs.target[i], &target}}) {
        to->push_back(from.first(std::min(from.size(), static_cast<std::size_t>(card.truncate))));
        scores[static_cast<std::size_t>(i)].cut += std::ssize(from) > card.truncate ? 1 : 0;
      }
    PairScore* score = scores.data() + first;
    for (const std::vector<double>& tokens : translator.model().log_probabilities(special_tokens, source, target)) {
      score->log_probability = std::accumulate(tokens.begin(), tokens.end(), 0.0);
      score++->tokens = std::ssize(tokens);
    }
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
