#pragma once
#include <optional>

#include "attn/run/training_corpus.hpp"
#include "options.hpp"

/// Reads the texts, or generates the bundled corpus.
attn::TrainingText read_texts(const Options& options);

attn::TrainingCorpus encode_texts(const Options& options, attn::TrainingText& texts,
                                  std::optional<attn::AnyTokenizer> tokenizer, attn::Communicator& ranks);
