#pragma once
#include <optional>

#include "attn/parallel/communicator.hpp"
#include "attn/run/run_folder.hpp"
#include "corpus.hpp"

/// Trains and tests (attn/run/train_and_test.hpp), with the program's commit and command on the run's card; `before` is the
/// card of the run that goes on, if one does, whose command is kept beside the one that resumed it. False where a signal has stopped the training.
bool train(const Options& options, const attn::TrainingText& texts, const attn::TrainingCorpus& corpus,
           const std::optional<attn::RunCard>& before, attn::Communicator& ranks);
