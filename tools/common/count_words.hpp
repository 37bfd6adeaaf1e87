#pragma once
#include <future>

#include "attn/data/pair_stream.hpp"
#include "attn/text/bpe_training.hpp"

namespace attn {

/// Word counts of both sides of a text, for learning a BPE.
struct WordsOfPairs {
  BpeTrainer source, target;
};

/// Counts words block by block on several threads; the counts do not depend on the number of threads. Calls report(pairs so
/// far) after each block; returning false stops.
inline WordsOfPairs count_words(PairStream& text, Index threads = all_threads(),
                                const std::function<bool(Index)>& report = {}) {
  constexpr Index kBlock = 1 << 17;
  WordsOfPairs words;
  Index pairs = 0;
  const auto read = [&] { return text.next(kBlock); };
  for (ParallelText block = read(); !block.source.empty();) {
    auto next = std::async(std::launch::async, read);  // overlaps with counting this block
    add_lines(words.source, block.source, threads);
    add_lines(words.target, block.target, threads);
    pairs += std::ssize(block.source);
    block = next.get();
    if (report && !report(pairs)) break;
  }
  return words;
}

}  // namespace attn
