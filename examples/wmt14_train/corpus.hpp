#pragma once
#include <optional>

#include "attn/data/parallel_corpus.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/text/any_tokenizer.hpp"
#include "options.hpp"

/// The texts of a run, as people wrote them.
struct Texts {
  attn::ParallelText training, validation, test;
};

/// Reads or generates them. Pairs with a blank side are left out of training and validation; what is empty then is an Error.
Texts read_texts(const Options& options);

/// The same as tokens.
struct Corpus {
  attn::AnyTokenizer tokenizer;
  attn::ParallelCorpus training, validation;
};

/// Encodes them with a tokenizer: the one that is given, that of --vocab and --merges, or one learnt from the training text.
Corpus encode_texts(const Options& options, const Texts& texts, std::optional<attn::AnyTokenizer> tokenizer);
