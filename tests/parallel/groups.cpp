#include <doctest/doctest.h>

#include <vector>

#include "attn/optim/grouped.hpp"
#include "attn/train/checkpoint.hpp"
#include "parallel/parallel_training.hpp"
#include "parallel/thread_ranks.hpp"
#include "support/files.hpp"

// Parameter groups on several ranks, whose shares of the optimiser begin anywhere in the table.

using namespace thread_ranks;
using namespace parallel_training;

namespace {

void set_groups(Network<Model>& network) {
  network.group("decoder", {.rate = 0.5, .weight_decay = 0.1});
  network.group("decoder.layers.*.self_attention.in.bias", {.rate = 2, .weight_decay = 0.2, .decay_vectors = true});
  network.freeze("encoder.layers.0");
  network.freeze("decoder.layers.1");
}

/// A training by Adam, and by SGD for the encoder.
std::vector<double> train_grouped(Run& run, TrainState state, Index epochs, const std::filesystem::path& path = {}) {
  Grouped optimiser(run.network,
                    {{"*", AdamOptions{.epsilon = 1e-4, .weight_decay = 0.1}}, {"encoder", SgdOptions{.momentum = 0.9}}},
                    {.clip_norm = 0.5}, run.ranks.share());
  TrainOptions options = run.options;
  options.epochs = epochs;
  if (epochs == 2 && !path.empty()) state = load_training(SafetensorsFile(path), run.network, optimiser, &run.ranks);
  Trainer trainer(run.network, optimiser, ConstantRate{0.01}, options, &run.ranks);
  trainer.state = state;
  trainer.run(run.training);
  if (epochs == 1) save_training(path, run.network, optimiser, trainer.state, {}, &run.ranks);
  return run.numbers();
}

}  // namespace

TEST_CASE("groups on ranks: several ranks match one with and without sharding and frozen parameters stay") {
  Run alone(3);
  const auto start = alone.numbers();
  set_groups(alone.network);
  const Result one = train(alone);
  for (const auto& entry : alone.network.parameters.entries())
    if (entry.frozen)
      for (Index i = entry.offset; i < entry.offset + entry.size(); ++i)
        REQUIRE(one.numbers[static_cast<std::size_t>(i)] == start[static_cast<std::size_t>(i)]);
  for (const bool shard : {false, true}) {
    CAPTURE(shard);
    on_ranks(3, [&](ThreadRank& rank) {
      Run run(rank, 1, shard);
      set_groups(run.network);
      const Result result = train(run);
      CHECK(largest_difference(result.numbers, one.numbers) < 1e-12);
      CHECK(*result.steps.back().gradient_norm == doctest::Approx(*one.steps.back().gradient_norm).epsilon(1e-11));
    });
  }
}

TEST_CASE("groups on ranks: training with several optimisers resumes with another number of ranks") {
  const TemporaryFolder folder;
  const auto path = folder / "training.safetensors";
  Run alone(2);
  set_groups(alone.network);
  const auto whole = train_grouped(alone, {}, 2);
  for (const bool shard : {false, true}) {
    CAPTURE(shard);
    on_ranks(2, [&](ThreadRank& rank) {
      Run run(rank, 1, shard);
      set_groups(run.network);
      train_grouped(run, {}, 1, path);
    });
    Run second(2);
    CHECK(largest_difference(train_grouped(second, {}, 2, path), whole) < 1e-12);
    on_ranks(2, [&](ThreadRank& rank) {
      Run run(rank, 1, !shard);
      CHECK(largest_difference(train_grouped(run, {}, 2, path), whole) < 1e-12);
    });
  }
}
