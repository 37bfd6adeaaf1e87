#include "training.hpp"

#include <iostream>

#include "common/commit.hpp"
#include "common/train_and_test.hpp"
#include "common/training_command_line.hpp"

using namespace attn;

bool train(const Options& options, const TrainingText& texts, const TrainingCorpus& corpus,
           const std::optional<RunConfig>& before, Communicator& ranks) {
  RunConfig config = run_config(options, corpus, settings_of(options), before);
  config.commit = attn::program_commit();
  config.about["command"] = before ? before->about.value("command", options.command) : options.command;
  if (before) config.about["resumed"] = options.command;
  return train_and_test(options, texts, corpus, config, ranks, std::cout);
}
