#include "training.hpp"

#include <iostream>

#include "attn/run/train_and_test.hpp"
#include "attn/run/training_command_line.hpp"
#include "papers/commit.hpp"

using namespace attn;

bool train(const Options& options, const TrainingText& texts, const TrainingCorpus& corpus,
           const std::optional<RunCard>& before, Communicator& ranks) {
  RunCard card = run_card(options, corpus, settings_of(options), before);
  card.commit = papers::commit();
  card.about["command"] = before ? before->about.value("command", options.command) : options.command;
  if (before) card.about["resumed"] = options.command;
  return train_and_test(options, texts, corpus, card, ranks, std::cout);
}
