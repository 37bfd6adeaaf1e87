#pragma once
#include <utility>

#include "attn/data/parallel_corpus.hpp"

namespace attn {

/// Texts as a corpus whose sources are empty: what a language model learns from, in the batches and by the trainer of all
/// models. Give
/// its Batches special tokens without a source_end.
inline ParallelCorpus plain_corpus(Sentences texts) {
  ParallelCorpus corpus{{}, std::move(texts)};
  corpus.source.offsets.assign(corpus.target.offsets.size(), 0);
  return corpus;
}

}  // namespace attn
