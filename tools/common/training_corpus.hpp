#pragma once
#include <nlohmann/json.hpp>
#include <ostream>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "attn/core/format_count.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/parallel/communicator.hpp"
#include "attn/text/bpe_training.hpp"
#include "attn/text/byte_bpe_files.hpp"
#include "common/training_text.hpp"

namespace attn {

/// Runs learn_byte_bpe on rank 0; the other ranks wait and receive the result.
template <class... Texts>
ByteBpe learn_once(Communicator& ranks, Index vocabulary, const Texts&... texts) {
  if (ranks.ranks() == 1) return learn_byte_bpe(vocabulary, texts...);
  nlohmann::json trained;
  if (ranks.leads()) {
    const ByteBpe bpe = learn_byte_bpe(vocabulary, texts...);
    trained["tokens"] = bpe.tokens();
    trained["merges"] = nlohmann::json::array();
    for (const auto& [left, right, result] : bpe.merges()) trained["merges"].push_back({left, right, result});
  }
  trained = nlohmann::json::parse(ranks.from_first(trained.dump()));
  std::vector<Merge> merges;
  for (const auto& merge : trained["merges"])
    merges.push_back({merge[0].get<Token>(), merge[1].get<Token>(), merge[2].get<Token>()});
  return ByteBpe(trained["tokens"].get<std::vector<std::string>>(), std::move(merges));
}

/// Tokenized texts for training.
struct TrainingCorpus {
  CorpusTokenizers tokenizers;
  ParallelCorpus encoded_training, encoded_validation;  // texts that are not in shards
  std::shared_ptr<const OpenCorpus> shards = {};
  Index held_out = 0;

  /// Whether each language has its own vocabulary.
  bool separate_vocabularies() const { return tokenizers.source.hash() != tokenizers.target.hash(); }

  CorpusView training() const {
    return shards ? CorpusView(shards->pairs).part(0, shards->pairs.size() - held_out) : encoded_training;
  }
  CorpusView validation() const {
    return held_out > 0 ? CorpusView(shards->pairs).part(shards->pairs.size() - held_out, held_out) : encoded_validation;
  }

  /// Fingerprints of the texts.
  std::uint64_t training_hash() const { return shards ? content_hash(shards->pairs) : content_hash(encoded_training); }
  std::uint64_t validation_hash() const {
    if (held_out == 0) return content_hash(encoded_validation);
    ContentHash hash;  // of the last pairs in the shards
    hash.add(training_hash());
    hash.add(static_cast<std::uint64_t>(held_out));
    return hash.value();
  }
};

/// The tokenizers that the options name, or those that rank 0 learns from the training text.
inline CorpusTokenizers make_tokenizers(const TextOptions& options, const ParallelText& text, Communicator& ranks) {
  if (options.vocab.empty() && options.separate_vocabularies)
    return {learn_once(ranks, options.vocabulary, text.source), learn_once(ranks, options.vocabulary, text.target)};
  const AnyTokenizer both = options.vocab.empty() ? learn_once(ranks, options.vocabulary, text.source, text.target)
                                                  : load_byte_bpe(options.vocab, options.merges);
  return {both, both};
}

namespace detail {

/// Encodes lines like encode_lines, and frees them block by block: text and tokens are never both in memory as a whole.
inline Sentences encode_and_free(std::vector<std::string>& lines, const AnyTokenizer& tokenizer, Index kept) {
  const std::size_t block_lines = static_cast<std::size_t>(8192 * all_threads());  // lines
  constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
  Sentences all;
  for (std::size_t first = 0; first < lines.size(); first += block_lines) {
    std::vector<std::string> block(std::min(block_lines, lines.size() - first));
    std::swap_ranges(block.begin(), block.end(), lines.begin() + static_cast<std::ptrdiff_t>(first));
    const Sentences encoded = encode_lines(block, tokenizer, kept);
    require(all.tokens.size() + encoded.tokens.size() <= kMost, "the training text has more than ", kMost,
            " tokens in a language; create shards with the program tokenize and train on them");
    if (first == 0) all.tokens.reserve(encoded.tokens.size() * (lines.size() / block_lines + 1));  // no copy while it grows
    for (Index i = 0; i < encoded.size(); ++i) all.push_back(encoded[i]);
    block.clear();
#ifdef __GLIBC__
    ::malloc_trim(0);  // otherwise the pages of freed lines stay with the process
#endif
  }
  lines = std::vector<std::string>();  // `= {}` keeps the capacity
  return all;
}

}  // namespace detail

/// Encodes the texts with the given tokenizers, or those of make_tokenizers. Shards bring their own. Clears the training
/// text. Prints the sizes, prefixed with `name`.
inline TrainingCorpus encode_training_text(const TextOptions& options, TrainingText& text,
                                           std::optional<CorpusTokenizers> given, Communicator& ranks, std::ostream& out,
                                           const std::string& name = "corpus") {
  if (text.shards && given) text.shards->pairs.require_tokenizers(given->source, given->target);
  const auto [source, target] = text.shards ? text.shards->tokenizers
                                : given     ? *given
                                            : make_tokenizers(options, text.training, ranks);
  const Index kept = options.kept_tokens();
  TrainingCorpus corpus{{source, target},
                        {detail::encode_and_free(text.training.source, source, kept),
                         detail::encode_and_free(text.training.target, target, kept)},
                        encode_corpus(text.validation, source, target, kept),
                        text.shards,
                        text.held_out};
  Index tokens = 0, cut = 0;  // cut: sentences of the maximum length, truncated or not
  const CorpusView training = corpus.training();
  for (Index i = 0; i < training.size(); ++i)
    for (const Index length : {training.source_length(i), training.target_length(i)}) {
      tokens += length;
      cut += length == kept ? 1 : 0;
    }
  out << name << ": " << counted(training.size(), "training pair") << " of " << counted(tokens, "token") << ", "
      << format_count(corpus.validation().size()) << " for validation, " << format_count(std::ssize(text.test.source))
      << " to translate; "
      << (corpus.separate_vocabularies() ? "vocabularies of " + format_count(source.size()) + " and " : "a vocabulary of ")
      << format_count(target.size()) << "\n";
  if (cut > 0) out << "truncated " << counted(cut, "training sentence") << " to " << kept << " tokens\n";
  return corpus;
}

}  // namespace attn
