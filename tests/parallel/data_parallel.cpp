#include "attn/parallel/data_parallel.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "attn/parallel/communicator.hpp"
#include "attn/train/checkpoint.hpp"
#include "parallel/parallel_training.hpp"
#include "parallel/thread_ranks.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

using namespace thread_ranks;
using namespace parallel_training;

namespace {

std::vector<Result> train_on(Index ranks, Index accumulate, bool shard, Index pairs = 75, Index epochs = 2) {
  std::vector<Result> results(static_cast<std::size_t>(ranks));
  on_ranks(ranks, [&](ThreadRank& rank) {
    Run run(rank, accumulate, shard, pairs, epochs);
    results[static_cast<std::size_t>(rank.rank())] = train(run);
  });
  return results;
}

}  // namespace

TEST_CASE("data parallel: n ranks match one rank that accumulates n times as many batches") {
  for (const auto& one_of : {std::pair<Index, Index>{2, 1}, {4, 1}, {2, 2}, {3, 1}}) {
    const Index ranks = one_of.first, accumulate = one_of.second;
    Run alone(ranks * accumulate);
    const Result one = train(alone);
    for (const bool shard : {false, true}) {
      CAPTURE(ranks);
      CAPTURE(accumulate);
      CAPTURE(shard);
      const std::vector<Result> several = train_on(ranks, accumulate, shard);
      for (const Result& result : several) {
        CHECK(result.numbers == several[0].numbers);  // bits
        CHECK(largest_difference(result.numbers, one.numbers) < 1e-12);
        REQUIRE(result.steps.size() == one.steps.size());
        for (std::size_t i = 0; i < one.steps.size(); ++i) {
          CHECK(result.steps[i].loss == doctest::Approx(one.steps[i].loss).epsilon(1e-12));
          CHECK(result.steps[i].tokens == one.steps[i].tokens);
          CHECK(*result.steps[i].gradient_norm == doctest::Approx(*one.steps[i].gradient_norm).epsilon(1e-11));
        }
        REQUIRE(result.validations.size() == one.validations.size());
        for (std::size_t i = 0; i < one.validations.size(); ++i)
          CHECK(result.validations[i].loss == doctest::Approx(one.validations[i].loss).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("data parallel: the same ranks and seeds give the same bits") {
  for (const bool shard : {false, true}) CHECK(train_on(3, 1, shard)[0].numbers == train_on(3, 1, shard)[0].numbers);
}

TEST_CASE("data parallel: a single rank trains as without a communicator") {
  Run run(2);
  const Result alone = train(run);
  CHECK(train_on(1, 2, false)[0].numbers == alone.numbers);
  CHECK(train_on(1, 2, true)[0].numbers == alone.numbers);
}

TEST_CASE("data parallel: one rank that sums gives the same bits as one that does not") {
  Run run(1);
  const Result alone = train(run);
  on_ranks(1, [&](ThreadRank& rank) {
    rank.sums_alone = true;
    Run summing(rank, 1);
    CHECK(train(summing).numbers == alone.numbers);
    CHECK(rank.sums.size() > 4);
  });
}

TEST_CASE("data parallel: ranks without a batch participate") {
  Run run(4, 9, 3);
  CHECK(run.training.batches_per_epoch() == 2);
  const Result alone = train(run);
  for (const bool shard : {false, true}) {
    const std::vector<Result> several = train_on(4, 1, shard, 9, 3);
    for (const Result& result : several) CHECK(largest_difference(result.numbers, alone.numbers) < 1e-12);
  }
}

TEST_CASE("data parallel: layer gradients are summed during the backward pass from last to first") {
  on_ranks(2, [](ThreadRank& rank) {
    Run run(rank, 1, false, 16, 1);
    train(run);
    std::vector<Index> layers;
    const auto size = [](auto& layer) { return gradient_range<Device>(layer).count; };
    for (std::size_t i = 2; i-- > 0;) layers.push_back(size(run.network->decoder.layers[i]));
    for (std::size_t i = 2; i-- > 0;) layers.push_back(size(run.network->encoder.layers[i]));
    REQUIRE(rank.sums.size() > 4);
    CHECK(std::vector<Index>(rank.sums.begin(), rank.sums.begin() + 4) == layers);
    Index total = 0, next = 4;
    for (const Index count : layers) total += count;
    while (total < run.network.parameters.size()) total += rank.sums[static_cast<std::size_t>(next++)];
    CHECK(total == run.network.parameters.size());  // each gradient once
  });
}

TEST_CASE("data parallel: summing without overlap after the backward pass gives the same bits") {
  std::vector<double> numbers[2];
  for (const bool overlap : {false, true})
    on_ranks(2, [&](ThreadRank& rank) {
      Run run(rank, 1, false, 16, 1, overlap);
      const Result result = train(run);
      if (rank.rank() == 0) numbers[overlap ? 1 : 0] = result.numbers;
      CHECK((rank.sums[0] == run.network.parameters.size()) == !overlap);
    });
  CHECK(numbers[0] == numbers[1]);
}

TEST_CASE("data parallel: shared gradients are summed after the backward pass") {
  on_ranks(2, [](ThreadRank& rank) {
    Run run(rank, 1);
    auto& parameters = run.network.parameters;
    const auto layer = gradient_range<Device>(run.network->encoder.layers[0]);
    run.ranks.plan({layer, layer});
    rank.sums.clear();
    run.ranks.complete(layer);
    CHECK(rank.sums.empty());
    const auto& table = parameters.find("target_embedding.table");
    CHECK(table.shared);
    const GradientRange<double> range{parameters.gradients() + table.offset, padded_size(table.size())};
    run.ranks.plan({range});
    run.ranks.complete(range);
    CHECK(rank.sums.empty());
    run.ranks.plan({layer});
    run.ranks.complete(layer);
    CHECK(rank.sums == std::vector<Index>{layer.count});
    run.ranks.finish();
  });
}

TEST_CASE("data parallel: a sharded optimiser holds its share of the state") {
  Run whole(1);
  Index all = 0;
  whole.adam.for_each_state([&](const auto&, const auto& state) { all += state.size(); });
  std::vector<Index> parts(3);
  on_ranks(3, [&](ThreadRank& rank) {
    Run run(rank, 1, true);
    run.adam.for_each_state(
        [&](const auto&, const auto& state) { parts[static_cast<std::size_t>(rank.rank())] += state.size(); });
  });
  CHECK(parts[0] + parts[1] + parts[2] == all);
  for (const Index part : parts) CHECK(std::abs(3 * part - all) <= 3 * 2 * 64);
}

TEST_CASE("data parallel: training resumes with another number of ranks with and without sharding") {
  const TemporaryFolder folder;
  const auto path = folder / "training.safetensors";
  Run whole(4);
  const Result one = train(whole);
  for (const auto& ranks : {std::pair<Index, Index>{2, 4}, {4, 1}, {1, 2}})
    for (const bool shard : {false, true}) {
      const Index before = ranks.first, after = ranks.second;
      CAPTURE(before);
      CAPTURE(after);
      CAPTURE(shard);
      on_ranks(before, [&](ThreadRank& rank) {
        Run run(rank, 4 / before, shard, 75, 1);
        train(run);
        save_training(path, run.network.parameters, run.optimiser, run.trainer.state, {}, &run.ranks);
      });
      on_ranks(after, [&](ThreadRank& rank) {
        Run run(rank, 4 / after, !shard);
        run.trainer.state = load_training(SafetensorsFile(path), run.network.parameters, run.optimiser, &run.ranks);
        CHECK(largest_difference(train(run).numbers, one.numbers) < 1e-12);
      });
    }
}

TEST_CASE("data parallel: differing ranks are detected before the start") {
  on_ranks(3, [](ThreadRank& rank) {
    CHECK_NOTHROW(require_same_everywhere(rank, {{"seed", "1"}, {"text", "a"}}));
    const std::string mine = rank.rank() == 2 ? "7" : "1";
    CHECK(error_of([&] {
            require_same_everywhere(rank, {{"text", "a"}, {"seed", mine}});
          }) ==
          "rank 2 on thread 2 has seed 7, rank 0 on thread 0 has 1. Start all ranks with the same program, files and "
          "options.");
    const std::string text = "batch 16\nseed " + mine + "\nsize small\n";
    CHECK(error_of([&] {
            require_same_everywhere(rank, {{"setting", text}});
          }) ==
          "rank 2 on thread 2 has setting seed 7, rank 0 on thread 0 has seed 1. Start all ranks with the same program, "
          "files and options.");
  });
}

TEST_CASE("data parallel: a part that is unfrozen at a step learns as on one rank") {
  const auto thaw_and_train = [](Run& run) {
    const auto encoder = [&] {
      return run.network.parameters.read(run.network.parameters.find("encoder.layers.0.attention.in.weight"));
    };
    run.network.freeze("encoder");
    const auto before = encoder();
    AtStep thaw(3, [&] {
      CHECK(encoder() == before);
      run.network.unfreeze("encoder");
    });
    run.trainer.run(run.training, {&thaw});
    CHECK(encoder() != before);
    return run.numbers();
  };
  Run alone(2);
  const std::vector<double> one = thaw_and_train(alone);
  for (const bool shard : {false, true})
    on_ranks(2, [&](ThreadRank& rank) {
      Run run(rank, 1, shard);
      CHECK(largest_difference(thaw_and_train(run), one) < 1e-12);
    });
}

TEST_CASE("data parallel: all ranks stop when one is asked to") {
  std::vector<Index> steps(3);
  on_ranks(3, [&](ThreadRank& rank) {
    Run run(rank, 1, false, 200, 5);
    StopWhen early([&] { return rank.rank() == 1 && run.trainer.state.step >= 4; });
    run.trainer.run(run.training, run.validation, {&early});
    steps[static_cast<std::size_t>(rank.rank())] = run.trainer.state.step;
  });
  CHECK(steps == std::vector<Index>{4, 4, 4});
}
