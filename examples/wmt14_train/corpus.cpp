#include "corpus.hpp"

#include <iostream>

#include "attn/data/packed_file.hpp"
#include "attn/run/learn_once.hpp"
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

/// What is said of a corpus.
struct Measure {
  Index tokens = 0, cut = 0;  // cut: sentences of `truncate` tokens, whether more came after or not
};

Measure measure(const CorpusView& corpus, Index truncate) {
  Measure found;
  for (Index i = 0; i < corpus.size(); ++i)
    for (const Index length : {corpus.source_length(i), corpus.target_length(i)}) {
      found.tokens += length;
      found.cut += length == truncate ? 1 : 0;
    }
  return found;
}

ParallelText decode(const CorpusView& pairs, const AnyTokenizer& tokenizer) {
  ParallelText text;
  std::vector<Token> space;
  for (Index i = 0; i < pairs.size(); ++i) {
    text.source.push_back(tokenizer.decode(pairs.source_tokens(i, space)));
    text.target.push_back(tokenizer.decode(pairs.target_tokens(i, space)));
  }
  return text;
}

/// The last 1 % of so many pairs, 1 at least.
Index last_percent(Index pairs) { return std::max<Index>(1, pairs / 100); }

void read_validation(const Options& options, Texts& texts) {
  say_left_out(add_pairs(texts.validation, options.valid_source, options.valid_target), "validation");
  require(!texts.validation.source.empty(), "the validation text ", options.valid_source.string(),
          " has no pairs of sentences");
}

void read_test(const Options& options, Texts& texts) {
  texts.test = options.test_source.empty() ? texts.validation : read_parallel(options.test_source, options.test_target);
  require(!texts.test.source.empty(), "the test text ", options.test_source.string(), " is empty");
}

Texts open_shards(const Options& options) {
  Texts texts;
  texts.shards = std::make_shared<const OpenCorpus>(open_corpus(options.shards, options.truncate - 1));  // an end is added
  const auto& [tokenizers, pairs] = *texts.shards;
  require(tokenizers.source.hash() == tokenizers.target.hash(), options.shards.string(),
          " has a tokenizer for each language; make shards with one for both");
  if (!options.valid_source.empty()) {
    read_validation(options, texts);
  } else {
    texts.held_out = last_percent(pairs.size());
    require(texts.pairs() > 0, options.shards.string(), " has one pair: too few to train on and to validate with");
    texts.validation = decode(CorpusView(pairs).part(texts.pairs(), texts.held_out), tokenizers.source);
  }
  read_test(options, texts);
  return texts;
}

}  // namespace

Texts read_texts(const Options& options) {
  if (options.bundled()) {
    const papers::CorpusSplit split = papers::generate_split(options.generated_pairs.value_or(56'000), 500, 500, 1);
    return {in_parallel(split.train), in_parallel(split.validation), in_parallel(split.test)};
  }
  if (!options.shards.empty()) return open_shards(options);
  Texts texts;
  Index left_out = 0;
  for (std::size_t i = 0; i < options.train_source.size(); ++i)
    left_out += add_pairs(texts.training, options.train_source[i], options.train_target[i]);
  say_left_out(left_out, "training");
  auto& [source, target] = texts.training;
  if (!options.valid_source.empty()) {
    read_validation(options, texts);
  } else if (source.size() > 1) {
    const auto kept = std::ssize(source) - last_percent(std::ssize(source));
    for (const auto& [from, to] : {std::pair(&source, &texts.validation.source), {&target, &texts.validation.target}}) {
      to->assign(from->begin() + kept, from->end());
      from->resize(static_cast<std::size_t>(kept));
    }
  }
  require(!source.empty() && !texts.validation.source.empty(), "the training text ", options.train_source[0].string(),
          " has ", source.size() + texts.validation.source.size(),
          " pairs of sentences: too few to train on and to validate with");
  read_test(options, texts);
  return texts;
}

CorpusView Corpus::training() const {
  return shards ? CorpusView(shards->pairs).part(0, shards->pairs.size() - held_out) : encoded_training;
}

CorpusView Corpus::validation() const {
  return held_out > 0 ? CorpusView(shards->pairs).part(shards->pairs.size() - held_out, held_out) : encoded_validation;
}

std::uint64_t Corpus::training_hash() const {
  return shards ? content_hash(shards->pairs) : content_hash(encoded_training);
}

std::uint64_t Corpus::validation_hash() const {
  if (held_out == 0) return content_hash(encoded_validation);
  ContentHash hash;  // the last pairs of the shards
  hash.add(training_hash());
  hash.add(static_cast<std::uint64_t>(held_out));
  return hash.value();
}

Corpus encode_texts(const Options& options, Texts& texts, std::optional<AnyTokenizer> tokenizer, Communicator& ranks) {
  if (texts.shards && tokenizer) texts.shards->pairs.require_tokenizers(*tokenizer, *tokenizer);
  if (texts.shards) tokenizer = texts.shards->tokenizers.source;
  if (!tokenizer && !options.vocab.empty()) tokenizer = load_byte_bpe(options.vocab, options.merges);
  if (!tokenizer) tokenizer = learn_once(ranks, options.vocabulary, texts.training.source, texts.training.target);
  const Index truncate = options.truncate - 1;  // an end is added
  Corpus corpus{*tokenizer, encode_corpus(texts.training, *tokenizer, *tokenizer, truncate),
                encode_corpus(texts.validation, *tokenizer, *tokenizer, truncate), texts.shards, texts.held_out};
  texts.training = {};
  const Measure found = measure(corpus.training(), truncate);
  std::cout << (options.bundled() ? "bundled English-German corpus: " : "corpus: ")
            << format_count(corpus.training().size()) << " training pairs of " << format_count(found.tokens) << " tokens, "
            << format_count(corpus.validation().size()) << " for validation, "
            << format_count(static_cast<Index>(texts.test.source.size())) << " to translate; a vocabulary of "
            << format_count(tokenizer->size()) << "\n";
  if (found.cut > 0)
    std::cout << format_count(found.cut) << " training sentences have " << truncate
              << " tokens or more: what comes after is cut\n";
  return corpus;
}
