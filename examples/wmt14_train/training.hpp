#pragma once
#include <optional>

#include "attn/parallel/communicator.hpp"
#include "attn/run/run_folder.hpp"
#include "corpus.hpp"

/// Whether the run of a folder was trained to its end, translated the test and scored it.
bool finished(const std::filesystem::path& folder);

/// Trains the options' model in their folder, then translates and scores the test with its best weights and draws what a
/// report shows. It goes on with the run of the card `before`, if any; else it begins with the weights of the run of the
/// card `start`, in options.start_from, if any. A stop signal ends the training so that it can go on. All ranks call it, and the
/// first one writes.
void train(const Options& options, const Texts& texts, const Corpus& corpus, const std::optional<attn::RunCard>& before,
           const std::optional<attn::RunCard>& start, attn::Communicator& ranks);
