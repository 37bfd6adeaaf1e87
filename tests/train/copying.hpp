#pragma once
#include "attn/core/random.hpp"
#include "attn/data/parallel_corpus.hpp"

namespace small_training {

using attn::Index, attn::Token;

/// Pairs of which the target repeats the source, with words 4 to 11.
inline attn::ParallelCorpus copying(Index pairs, std::uint64_t seed) {
  attn::ParallelCorpus corpus;
  attn::Random random(seed);
  for (Index i = 0; i < pairs; ++i) {
    std::vector<Token> words(static_cast<std::size_t>(1 + random.below(5)));
    for (Token& word : words) word = static_cast<Token>(4 + random.below(8));
    corpus.source.push_back(words);
    corpus.target.push_back(words);
  }
  return corpus;
}

}  // namespace small_training
