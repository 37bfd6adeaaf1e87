#pragma once
#include "attn/core/sentences.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/data/corpus_view.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/text/tokenizer.hpp"

namespace attn {

/// Sentence pairs as token ids, without special tokens: batches add them (data/batches.hpp).
struct ParallelCorpus {
  Sentences source, target;

  Index size() const { return source.size(); }
  bool operator==(const ParallelCorpus&) const = default;

  // TokenPairs interface.
  Index source_length(Index i) const { return source.length(i); }
  Index target_length(Index i) const { return target.length(i); }
  std::span<const Token> source_tokens(Index i, std::vector<Token>&) const { return source[i]; }
  std::span<const Token> target_tokens(Index i, std::vector<Token>&) const { return target[i]; }
};

static_assert(TokenPairs<ParallelCorpus>);

/// A hash of all pairs in order.
inline std::uint64_t content_hash(const ParallelCorpus& corpus) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const Sentences* side : {&corpus.source, &corpus.target}) {
    for (const Token token : side->tokens) hash = (hash ^ static_cast<std::uint32_t>(token)) * 0x100000001b3ULL;
    for (const std::int32_t offset : side->offsets) hash = (hash ^ static_cast<std::uint32_t>(offset)) * 0x100000001b3ULL;
  }
  return hash;
}

inline constexpr Index keep_all_tokens = std::numeric_limits<Index>::max();

/// Encodes lines in parallel, keeping the first `truncate` tokens of each. The threads share the tokenizer. The result does
/// not depend on the number of threads.
Sentences encode_lines(const std::vector<std::string>& lines, const EncodesText auto& tokenizer,
                       Index truncate = keep_all_tokens, Index threads = all_threads()) {
  require(truncate > 0, "encode_lines: cannot truncate sentences to ", truncate, " tokens; keep at least 1");
  const std::size_t most = std::numeric_limits<std::int32_t>::max();  // range of Sentences::offsets
  const auto require_room = [most](std::size_t all) {
    require(all <= most, "encode_lines: ", all, " tokens are more than ", most,
            "; create shards with the program tokenize and train on them");
  };
  constexpr std::size_t kBlock = 1024;
  std::vector<Sentences> blocks((lines.size() + kBlock - 1) / kBlock);
  parallel_for(std::ssize(blocks), threads, [&](Index block) {
    const std::size_t first = static_cast<std::size_t>(block) * kBlock;
    Sentences& sentences = blocks[static_cast<std::size_t>(block)];
    std::vector<Token> tokens;
    for (std::size_t i = first; i < std::min(first + kBlock, lines.size()); ++i) {
      tokens.clear();
      tokenizer.encode(lines[i], tokens);
      const auto kept = std::min(tokens.size(), static_cast<std::size_t>(truncate));
      require_room(sentences.tokens.size() + kept);
      sentences.push_back(std::span(tokens).first(kept));
    }
  });
  if (blocks.size() == 1) return std::move(blocks.front());

  std::size_t all = 0;
  for (const Sentences& block : blocks) all += block.tokens.size();
  require_room(all);
  Sentences sentences;
  sentences.tokens.reserve(all);
  sentences.offsets.reserve(lines.size() + 1);
  for (Sentences& block : blocks) {
    for (Index i = 0; i < block.size(); ++i) sentences.push_back(block[i]);
    block = {};
  }
  return sentences;
}

/// Encodes both sides of a text, keeping the first `truncate` tokens of each sentence. A batch adds one special token per
/// sentence, so use truncate = n - 1 for a model with n positions.
ParallelCorpus encode_corpus(const ParallelText& text, const EncodesText auto& source, const EncodesText auto& target,
                             Index truncate = keep_all_tokens) {
  require(text.source.size() == text.target.size(), "encode_corpus: ", text.source.size(), " source lines, but ",
          text.target.size(), " target lines. Pass one target per source.");
  return {encode_lines(text.source, source, truncate), encode_lines(text.target, target, truncate)};
}

/// Decodes both sides of a corpus. The inverse of encode_corpus, up to what the tokenizers preserve.
template <class SourceTokenizer, class TargetTokenizer>
ParallelText decode_corpus(const ParallelCorpus& corpus, const SourceTokenizer& source, const TargetTokenizer& target) {
  ParallelText text;
  for (Index i = 0; i < corpus.size(); ++i) {
    text.source.push_back(source.decode(corpus.source[i]));
    text.target.push_back(target.decode(corpus.target[i]));
  }
  return text;
}

/// A corpus split into training and validation data.
struct ValidationSplit {
  ParallelCorpus training, validation;
};

/// Holds out the last `fraction` of the pairs for validation, rounded to whole pairs. Random pairs would leak: neighbouring
/// sentences of a document resemble each other.
inline ValidationSplit split_validation(const ParallelCorpus& corpus, double fraction) {
  require(fraction >= 0 && fraction < 1, "split_validation: a fraction of ", fraction, " is not in [0, 1)");
  const Index held_out = std::llround(static_cast<double>(corpus.size()) * fraction);
  const Index kept = corpus.size() - held_out;
  ValidationSplit split;
  for (Index i = 0; i < corpus.size(); ++i) {
    ParallelCorpus& part = i < kept ? split.training : split.validation;
    part.source.push_back(corpus.source[i]);
    part.target.push_back(corpus.target[i]);
  }
  return split;
}

}  // namespace attn
