#pragma once
#include <optional>

#include "attn/parallel/communicator.hpp"
#include "attn/run/run_folder.hpp"
#include "common/training_corpus.hpp"
#include "options.hpp"

/// Trains and tests (common/train_and_test.hpp), and records the program's commit and command. `before` is the config of
/// a resumed run; its command is kept next to the one that resumes it. Returns false if a signal stopped the training.
bool train(const Options& options, const attn::TrainingText& texts, const attn::TrainingCorpus& corpus,
           const std::optional<attn::RunConfig>& before, attn::Communicator& ranks);

/// Reads the texts, or generates the bundled corpus.
attn::TrainingText read_texts(const Options& options);

attn::TrainingCorpus encode_texts(const Options& options, attn::TrainingText& texts,
                                  std::optional<attn::CorpusTokenizers> tokenizers, attn::Communicator& ranks);
