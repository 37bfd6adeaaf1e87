#pragma once
#include <filesystem>
#include <ostream>

#include "attn/core/format_count.hpp"
#include "attn/data/line_reader.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/run/corpus_folder.hpp"
#include "attn/train/terminal.hpp"

namespace attn {

/// Texts and tokenizer for training. Text files are plain, .xz or .gz, with one sentence per line; line i of the target
/// translates line i of the source.
struct TextOptions {
  std::vector<std::filesystem::path> train_source = {}, train_target = {};  // one or more files
  std::filesystem::path shards = {};                                        // or a folder created by tokenize
  std::filesystem::path valid_source = {}, valid_target = {};               // none: the last 1% of the training text
  std::filesystem::path test_source = {}, test_target = {};                 // none: the validation text
  std::filesystem::path vocab = {}, merges = {};  // byte-level BPE; none: learned from the training text
  Index vocabulary = 0;                           // vocabulary size to learn
  bool separate_vocabularies = false;             // learn one vocabulary of that size per language
  Index truncate = 256;                           // maximum tokens per sentence, including the end token

  Index kept_tokens() const { return truncate - 1; }  // excludes the end token
};

/// Raw texts, or the training text as shards.
struct TrainingText {
  ParallelText training = {}, validation = {}, test = {};
  std::shared_ptr<const OpenCorpus> shards = {};
  Index held_out = 0;  // validation pairs at the end of the shards

  /// Number of training pairs.
  Index pairs() const { return shards ? shards->pairs.size() - held_out : std::ssize(training.source); }
};

namespace detail {

/// Adds the pairs of two files. Skips pairs with a blank side and returns their number.
inline Index add_pairs(ParallelText& text, const std::filesystem::path& source, const std::filesystem::path& target) {
  const auto blank = [](const std::string& line) { return line.find_first_not_of(" \t") == line.npos; };
  Index left_out = 0;
  for_each_pair(source, target, [&](std::string& a, std::string& b) {
    if (blank(a) || blank(b)) {
      ++left_out;
      return;
    }
    text.source.push_back(std::move(a));
    text.target.push_back(std::move(b));
  });
  return left_out;
}

inline void report_dropped(std::ostream& out, Index pairs, const char* what) {
  if (pairs > 0) out << "dropped " << counted(pairs, "pair") << " of the " << what << " text with a blank side\n";
}

inline ParallelText decode_pairs(const CorpusView& pairs, const CorpusTokenizers& tokenizers) {
  ParallelText text;
  std::vector<Token> space;
  for (Index i = 0; i < pairs.size(); ++i) {
    text.source.push_back(tokenizers.source.decode(pairs.source_tokens(i, space)));
    text.target.push_back(tokenizers.target.decode(pairs.target_tokens(i, space)));
  }
  return text;
}

/// 1% of `pairs`, at least 1.
inline Index last_percent(Index pairs) { return std::max<Index>(1, pairs / 100); }

inline void read_validation(const TextOptions& options, TrainingText& text, std::ostream& out) {
  report_dropped(out, add_pairs(text.validation, options.valid_source, options.valid_target), "validation");
  require(!text.validation.source.empty(), "the validation text ", options.valid_source.string(),
          " has no pairs of sentences");
}

inline void open_shards(const TextOptions& options, TrainingText& text, std::ostream& out) {
  text.shards = std::make_shared<const OpenCorpus>(open_corpus(options.shards, options.kept_tokens()));
  const OpenCorpus& corpus = *text.shards;
  if (!options.valid_source.empty()) return read_validation(options, text, out);
  text.held_out = last_percent(corpus.pairs.size());
  require(text.pairs() > 0, options.shards.string(), " has one pair, too few for training and validation. Use more.");
  text.validation = decode_pairs(CorpusView(corpus.pairs).part(text.pairs(), text.held_out), corpus.tokenizers);
}

inline void read_files(const TextOptions& options, TrainingText& text, std::ostream& out) {
  require(!options.train_source.empty() && options.train_source.size() == options.train_target.size(),
          "the training text has ", counted(options.train_source.size(), "source file"), " and ",
          counted(options.train_target.size(), "target file"), ". Pass at least one of each, and the same number.");
  Index left_out = 0;
  for (std::size_t i = 0; i < options.train_source.size(); ++i)
    left_out += add_pairs(text.training, options.train_source[i], options.train_target[i]);
  report_dropped(out, left_out, "training");
  auto& [source, target] = text.training;
  if (!options.valid_source.empty()) {
    read_validation(options, text, out);
  } else if (source.size() > 1) {
    const auto kept = std::ssize(source) - last_percent(std::ssize(source));
    for (const auto& [from, to] : {std::pair(&source, &text.validation.source), {&target, &text.validation.target}}) {
      to->assign(from->begin() + kept, from->end());
      from->resize(static_cast<std::size_t>(kept));
    }
  }
  require(!source.empty() && !text.validation.source.empty(), "the training text ", options.train_source[0].string(),
          " has ", counted(source.size() + (options.valid_source.empty() ? text.validation.source.size() : 0), "pair"),
          ", too few for training and validation. Use more.");
}

}  // namespace detail

/// Reads the texts; skips and reports training and validation pairs with a blank side. An empty text is an Error.
inline TrainingText read_training_text(const TextOptions& options, std::ostream& out) {
  TrainingText text;
  if (options.shards.empty())
    detail::read_files(options, text, out);
  else
    detail::open_shards(options, text, out);
  text.test = options.test_source.empty() ? text.validation : read_parallel(options.test_source, options.test_target);
  require(!text.test.source.empty(), "the test text ", options.test_source.string(), " is empty");
  return text;
}

}  // namespace attn
