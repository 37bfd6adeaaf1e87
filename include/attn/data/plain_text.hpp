#pragma once
#include "attn/data/parallel_corpus.hpp"

namespace attn {

/// Wraps texts as a corpus with empty sources, to train a language model with the usual Batches and Trainer. Give its
/// Batches special tokens without a source_end.
inline ParallelCorpus plain_corpus(Sentences texts) {
  ParallelCorpus corpus{{}, std::move(texts)};
  corpus.source.offsets.assign(corpus.target.offsets.size(), 0);
  return corpus;
}

}  // namespace attn
