#pragma once
#include <functional>
#include <future>

#include "attn/data/pair_stream.hpp"
#include "attn/text/bpe_training.hpp"

namespace attn {

/// The words of both sides of a text, counted: what a BPE is learnt from.
struct WordsOfPairs {
  BpeTrainer source, target;
};

/// Counts them, a block of the text after another, on several threads; the counts do not depend on how many. `say(pairs
/// so far)`
/// is called after each block; returning false stops.
inline WordsOfPairs count_words(PairStream& text, Index threads = all_threads(),
                                const std::function<bool(Index)>& say = {}) {
  constexpr Index kBlock = 1 << 17;
  WordsOfPairs words;
  Index pairs = 0;
  const auto read = [&] { return text.next(kBlock); };
  for (ParallelText block = read(); !block.source.empty();) {
    auto next = std::async(std::launch::async, read);  // while the words of this one are counted
    add_lines(words.source, block.source, threads);
    add_lines(words.target, block.target, threads);
    pairs += std::ssize(block.source);
    block = next.get();
    if (say && !say(pairs)) break;
  }
  return words;
}

}  // namespace attn
