#include "corpus.hpp"

#include <iostream>

#include "attn/data/packed_file.hpp"
#include "attn/text/bpe_training.hpp"
#include "attn/text/byte_bpe_files.hpp"
#include "attn/train/progress.hpp"
#include "papers/grammar_corpus.hpp"

using namespace attn;
using Lines = std::vector<std::string>;

namespace {

ParallelText in_parallel(const std::vector<papers::SentencePair>& pairs) {
  ParallelText text;
  for (const papers::SentencePair& pair : pairs) {
    text.source.push_back(pair.english);
    text.target.push_back(pair.german);
  }
  return text;
}

bool blank(const std::string& line) { return line.find_first_not_of(" \t") == line.npos; }

/// Adds the pairs of two files, without those that have a blank side; returns how many these are.
Index add_pairs(ParallelText& text, const std::filesystem::path& source, const std::filesystem::path& target) {
  Index left_out = 0;
  PackedFile from(source), to(target);
  for_each_pair(from.path(), to.path(), [&](std::string& a, std::string& b) {
    if (blank(a) || blank(b)) {
      ++left_out;
      return;
    }
    text.source.push_back(std::move(a));
    text.target.push_back(std::move(b));
  });
  from.close();
  to.close();
  return left_out;
}

void say_left_out(Index pairs, const char* what) {
  if (pairs > 0) std::cout << format_count(pairs) << " pairs of the " << what << " text have a blank side: left out\n";
}

/// How many sentences of a side are cut.
Index count_cut(const Sentences& side, Index truncate) {
  Index cut = 0;
  for (Index i = 0; i < side.size(); ++i) cut += side.length(i) == truncate ? 1 : 0;
  return cut;
}

}  // namespace

Texts read_texts(const Options& options) {
  if (options.bundled()) {
    const papers::CorpusSplit split = papers::generate_split(options.generated_pairs, 500, 500, 1);
    return {in_parallel(split.train), in_parallel(split.validation), in_parallel(split.test)};
  }
  Texts texts;
  Index left_out = 0;
  for (std::size_t i = 0; i < options.train_source.size(); ++i)
    left_out += add_pairs(texts.training, options.train_source[i], options.train_target[i]);
  say_left_out(left_out, "training");
  auto& [source, target] = texts.training;
  if (!options.valid_source.empty()) {
    say_left_out(add_pairs(texts.validation, options.valid_source, options.valid_target), "validation");
    require(!texts.validation.source.empty(), "the validation text ", options.valid_source.string(),
            " has no pairs of sentences");
  } else if (source.size() > 1) {
    const auto kept = static_cast<std::ptrdiff_t>(source.size() - std::max<std::size_t>(1, source.size() / 100));
    for (const auto& [from, to] : {std::pair(&source, &texts.validation.source), {&target, &texts.validation.target}}) {
      to->assign(from->begin() + kept, from->end());
      from->resize(static_cast<std::size_t>(kept));
    }
  }
  require(!source.empty() && !texts.validation.source.empty(), "the training text ", options.train_source[0].string(),
          " has ", source.size() + texts.validation.source.size(),
          " pairs of sentences: too few to train on and to validate with");
  texts.test = options.test_source.empty() ? texts.validation : read_parallel(options.test_source, options.test_target);
  require(!texts.test.source.empty(), "the test text ", options.test_source.string(), " is empty");
  return texts;
}

Corpus encode_texts(const Options& options, const Texts& texts, std::optional<AnyTokenizer> tokenizer) {
  if (!tokenizer && !options.vocab.empty()) tokenizer = load_byte_bpe(options.vocab, options.merges);
  if (!tokenizer) tokenizer = learn_byte_bpe(options.vocabulary, texts.training.source, texts.training.target);
  const Index truncate = options.truncate - 1;  // an end is added
  Corpus corpus{*tokenizer, encode_corpus(texts.training, *tokenizer, *tokenizer, truncate),
                encode_corpus(texts.validation, *tokenizer, *tokenizer, truncate)};
  const auto tokens = static_cast<Index>(corpus.training.source.tokens.size() + corpus.training.target.tokens.size());
  std::cout << (options.bundled() ? "bundled English-German corpus: " : "corpus: ") << format_count(corpus.training.size())
            << " training pairs of " << format_count(tokens) << " tokens, " << format_count(corpus.validation.size())
            << " for validation, " << format_count(static_cast<Index>(texts.test.source.size()))
            << " to translate; a vocabulary of " << format_count(tokenizer->size()) << "\n";
  if (const Index cut = count_cut(corpus.training.source, truncate) + count_cut(corpus.training.target, truncate); cut > 0)
    std::cout << format_count(cut) << " training sentences have " << truncate
              << " tokens or more: what comes after is cut\n";
  return corpus;
}
