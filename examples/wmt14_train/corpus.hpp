#pragma once
#include <optional>

#include "common/training_corpus.hpp"
#include "options.hpp"

/// Reads the texts, or generates the bundled corpus.
attn::TrainingText read_texts(const Options& options);

attn::TrainingCorpus encode_texts(const Options& options, attn::TrainingText& texts,
                                  std::optional<attn::CorpusTokenizers> tokenizers, attn::Communicator& ranks);
