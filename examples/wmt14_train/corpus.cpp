#include "corpus.hpp"

#include <iostream>

#include "attn/text/bpe_training.hpp"
#include "attn/text/byte_bpe_files.hpp"
#include "attn/train/progress.hpp"
#include "papers/grammar_corpus.hpp"

namespace {

using namespace attn;
using namespace papers;

struct Texts {
  ParallelText training, validation, test;
};

ParallelText in_parallel(const std::vector<SentencePair>& pairs) {
  ParallelText text;
  for (const SentencePair& pair : pairs) {
    text.source.push_back(pair.english);
    text.target.push_back(pair.german);
  }
  return text;
}

Texts read_texts(const Options& options) {
  if (options.bundled()) {
    const CorpusSplit split = generate_split(options.generated_pairs, 500, 500, 1);
    return {in_parallel(split.train), in_parallel(split.validation), in_parallel(split.test)};
  }
  Texts texts{read_parallel(options.train_source, options.train_target), {}, {}};
  if (!options.valid_source.empty()) {
    texts.validation = read_parallel(options.valid_source, options.valid_target);
  } else {
    auto& [source, target] = texts.training;
    const std::size_t kept = source.size() - std::max<std::size_t>(1, source.size() / 100);
    texts.validation.source.assign(source.begin() + static_cast<std::ptrdiff_t>(kept), source.end());
    texts.validation.target.assign(target.begin() + static_cast<std::ptrdiff_t>(kept), target.end());
    source.resize(kept);
    target.resize(kept);
  }
  texts.test = options.test_source.empty() ? texts.validation : read_parallel(options.test_source, options.test_target);
  return texts;
}

ByteBpe read_or_learn_tokenizer(const Options& options, const ParallelText& text) {
  const auto vocab = options.output / "vocab.json", merges = options.output / "merges.txt";
  if (options.resume) return load_byte_bpe(vocab, merges);
  if (!options.vocab.empty()) {
    ByteBpe tokenizer = load_byte_bpe(options.vocab, options.merges);
    save_byte_bpe(tokenizer, vocab, merges);
    return tokenizer;
  }
  ByteBpe tokenizer = learn_byte_bpe(options.vocabulary, text.source, text.target);
  save_byte_bpe(tokenizer, vocab, merges);
  return tokenizer;
}

}  // namespace

Corpus load_corpus(const Options& options) {
  const Texts texts = read_texts(options);
  require(texts.training.source.size() > 0 && texts.validation.source.size() > 0,
          "the training text is too short: ", texts.training.source.size(), " pairs to train on and ",
          texts.validation.source.size(), " to validate with");
  ByteBpe tokenizer = read_or_learn_tokenizer(options, texts.training);
  const Index truncate = options.truncate - 1;  // a mark is added
  ParallelCorpus training = encode_corpus(texts.training, tokenizer, tokenizer, truncate);
  ParallelCorpus validation = encode_corpus(texts.validation, tokenizer, tokenizer, truncate);
  const auto tokens = static_cast<Index>(training.source.tokens.size() + training.target.tokens.size());
  std::cout << (options.bundled() ? "bundled English-German corpus: " : "corpus: ") << format_count(training.size())
            << " training pairs of " << format_count(tokens) << " tokens, " << format_count(validation.size())
            << " for validation, " << format_count(static_cast<Index>(texts.test.source.size())) << " to translate; "
            << format_count(tokenizer.size()) << " kinds of token\n";
  return {std::move(tokenizer), std::move(training), std::move(validation), texts.test};
}
