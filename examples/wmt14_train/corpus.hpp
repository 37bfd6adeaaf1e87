#pragma once
#include <memory>
#include <optional>

#include "attn/data/parallel_corpus.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/parallel/communicator.hpp"
#include "attn/run/corpus_folder.hpp"
#include "options.hpp"

/// The texts of a run, as people wrote them; or the training text as shards.
struct Texts {
  attn::ParallelText training, validation, test;
  std::shared_ptr<const attn::OpenCorpus> shards = {};
  attn::Index held_out = 0;  // pairs at the end of the shards that validate

  /// To train on.
  attn::Index pairs() const {
    return shards ? shards->pairs.size() - held_out : static_cast<attn::Index>(training.source.size());
  }
};

/// Reads or generates them. Pairs with a blank side are left out of training and validation; what is empty then is an Error.
Texts read_texts(const Options& options);

/// The same as tokens.
struct Corpus {
  attn::AnyTokenizer tokenizer;
  attn::ParallelCorpus encoded_training, encoded_validation;  // what is not in shards
  std::shared_ptr<const attn::OpenCorpus> shards = {};
  attn::Index held_out = 0;

  attn::CorpusView training() const;
  attn::CorpusView validation() const;
  /// Fingerprints of the texts.
  std::uint64_t training_hash() const;
  std::uint64_t validation_hash() const;
};

/// Encodes them with the given tokenizer, or else with the one that the options name, or else with one learnt from the
/// training
/// text; shards bring theirs. The training text is given up.
Corpus encode_texts(const Options& options, Texts& texts, std::optional<attn::AnyTokenizer> tokenizer,
                    attn::Communicator& ranks);
