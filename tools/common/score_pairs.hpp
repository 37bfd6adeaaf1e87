#pragma once
#include <numeric>

#include "attn/data/parallel_corpus.hpp"
#include "attn/metrics/perplexity.hpp"
#include "attn/run/open_translator.hpp"

namespace attn {

/// Log-probability of a translation given its source.
struct PairScore {
  double log_probability = 0;  // natural log, sum over all tokens including the end token
  Index tokens = 0;            // number of scored tokens
  Index cut = 0;               // number of truncated sentences in the pair
};

/// Scores every pair of a text. Truncates sentences to config().truncate tokens, as in training.
inline std::vector<PairScore> score_pairs(const FolderTranslator& translator, const ParallelText& text) {
  const RunConfig& config = translator.config();
  const ParallelCorpus pairs = encode_corpus(text, config.source, config.target);
  const SpecialTokens special_tokens = special_tokens_of(config.source, config.target);
  constexpr Index kAtOnce = 64;
  std::vector<PairScore> scores(text.source.size());
  for (Index first = 0; first < pairs.size(); first += kAtOnce) {
    Sentences source, target;
    for (Index i = first; i < std::min(first + kAtOnce, pairs.size()); ++i)
      for (const auto& [from, to] : {std::pair(pairs.source[i], &source), {pairs.target[i], &target}}) {
        to->push_back(from.first(std::min(from.size(), static_cast<std::size_t>(config.truncate))));
        scores[static_cast<std::size_t>(i)].cut += std::ssize(from) > config.truncate ? 1 : 0;
      }
    PairScore* score = scores.data() + first;
    for (const std::vector<double>& tokens : translator.model().log_probabilities(special_tokens, source, target)) {
      score->log_probability = std::accumulate(tokens.begin(), tokens.end(), 0.0);
      score++->tokens = std::ssize(tokens);
    }
  }
  return scores;
}

/// Perplexity over all pairs.
inline Perplexity perplexity_of(const std::vector<PairScore>& pairs) {
  Perplexity all;
  for (const PairScore& pair : pairs) all.add(-pair.log_probability, pair.tokens);
  return all;
}

}  // namespace attn
