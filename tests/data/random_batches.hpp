#pragma once
#include <utility>
#include <vector>

#include "attn/data/batches.hpp"

// Batches of random sentences, with every order and unit.

namespace random_batches {

using namespace attn;

/// Pairs of random lengths, some of them empty.
inline ParallelCorpus random_corpus(Index pairs, std::uint64_t seed = 7) {
  Random random(seed);
  const auto sentence = [&] {
    std::vector<Token> tokens(static_cast<std::size_t>(random.below(20)));
    for (Token& token : tokens) token = static_cast<Token>(10 + random.below(90));
    return tokens;
  };
  ParallelCorpus corpus;
  for (Index i = 0; i < pairs; ++i) corpus.source.push_back(sentence()), corpus.target.push_back(sentence());
  return corpus;
}

inline std::vector<Batch> rest_of_epoch(Batches& batches) {
  std::vector<Batch> all;
  for (Batch batch; batches.next(batch);) all.push_back(batch);
  return all;
}

inline std::vector<Batch> whole_epoch(Batches& batches, Index epoch) {
  batches.start_epoch(epoch);
  return rest_of_epoch(batches);
}

inline std::vector<BatchOptions> every_kind() {
  std::vector<BatchOptions> kinds;
  for (const BatchOrder order : {BatchOrder::sequential, BatchOrder::shuffled, BatchOrder::pooled})
    for (const auto& [unit, size] : {std::pair(BatchUnit::sentences, 8), std::pair(BatchUnit::tokens, 100)})
      kinds.push_back({.size = size, .unit = unit, .order = order, .pool = 5, .seed = 3});
  return kinds;
}

}  // namespace random_batches
