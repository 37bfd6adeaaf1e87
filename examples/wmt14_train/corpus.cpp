#include "training.hpp"

#include <iostream>

#include "papers/grammar_corpus.hpp"

using namespace attn;

namespace {

ParallelText in_parallel(const std::vector<papers::SentencePair>& pairs) {
  ParallelText text;
  for (const papers::SentencePair& pair : pairs) {
    text.source.push_back(pair.english);
    text.target.push_back(pair.german);
  }
  return text;
}

}  // namespace

TrainingText read_texts(const Options& options) {
  if (!options.bundled()) return read_training_text(options.text, std::cout);
  const papers::CorpusSplit split = papers::generate_split(options.generated_pairs.value_or(56'000), 500, 500, 1);
  return {in_parallel(split.train), in_parallel(split.validation), in_parallel(split.test)};
}

TrainingCorpus encode_texts(const Options& options, TrainingText& texts, std::optional<CorpusTokenizers> tokenizers,
                            Communicator& ranks) {
  return encode_training_text(options.text, texts, std::move(tokenizers), ranks, std::cout,
                              options.bundled() ? "bundled English-German corpus" : "corpus");
}
