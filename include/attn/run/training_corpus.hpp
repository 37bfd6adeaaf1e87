#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "attn/core/format_count.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/parallel/communicator.hpp"
#include "attn/run/learn_once.hpp"
#include "attn/run/training_text.hpp"
#include "attn/text/byte_bpe_files.hpp"

namespace attn {

/// The texts of a training as tokens.
struct TrainingCorpus {
  AnyTokenizer tokenizer;
  ParallelCorpus encoded_training, encoded_validation;  // what is not in shards
  std::shared_ptr<const OpenCorpus> shards = {};
  Index held_out = 0;

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
    ContentHash hash;  // the last pairs of the shards
    hash.add(training_hash());
    hash.add(static_cast<std::uint64_t>(held_out));
    return hash.value();
  }
};

/// Encodes them with the given tokenizer, or else with the one that the options name, or else with one learnt from the
/// training text by the first rank; shards bring theirs. The training text is given up. Says how much there is, `name` first.
inline TrainingCorpus encode_training_text(const TextOptions& options, TrainingText& text,
                                           std::optional<AnyTokenizer> tokenizer, Communicator& ranks, std::ostream& out,
                                           const std::string& name = "corpus") {
  if (text.shards && tokenizer) text.shards->pairs.require_tokenizers(*tokenizer, *tokenizer);
  if (text.shards) tokenizer = text.shards->tokenizers.source;
  if (!tokenizer && !options.vocab.empty()) tokenizer = load_byte_bpe(options.vocab, options.merges);
  if (!tokenizer) tokenizer = learn_once(ranks, options.vocabulary, text.training.source, text.training.target);
  const Index kept = options.kept_tokens();
  TrainingCorpus corpus{*tokenizer, encode_corpus(text.training, *tokenizer, *tokenizer, kept),
                        encode_corpus(text.validation, *tokenizer, *tokenizer, kept), text.shards, text.held_out};
  text.training = {};
  Index tokens = 0, cut = 0;  // cut: sentences of all tokens that are kept, whether more came after or not
  const CorpusView training = corpus.training();
  for (Index i = 0; i < training.size(); ++i)
    for (const Index length : {training.source_length(i), training.target_length(i)}) {
      tokens += length;
      cut += length == kept ? 1 : 0;
    }
  out << name << ": " << counted(training.size(), "training pair") << " of " << counted(tokens, "token") << ", "
      << format_count(corpus.validation().size()) << " for validation, " << format_count(std::ssize(text.test.source))
      << " to translate; a vocabulary of " << format_count(tokenizer->size()) << "\n";
  if (cut > 0) out << counted(cut, "training sentence") << " of " << kept << " tokens or more: what comes after is cut\n";
  return corpus;
}

}  // namespace attn
