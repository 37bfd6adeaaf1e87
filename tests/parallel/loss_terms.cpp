// Losses of several terms on several ranks.

#include <doctest/doctest.h>

#include "parallel/parallel_training.hpp"
#include "parallel/thread_ranks.hpp"
#include "train/custom_losses.hpp"

using namespace thread_ranks;
using parallel_training::largest_difference;

namespace {

using namespace custom_losses;

/// 19 pairs: five batches, so that with three or four ranks the last step has a batch for some of them only.
template <class Model>
parallel_training::Result train(Communicator& communicator, Index accumulate) {
  Device device(1);
  const ParallelCorpus text = small_training::copying(19, 1);
  Network<Model> network(device, {.source_vocabulary = 12, .target_vocabulary = 12, .dropout = {0.1f, 0.1f, 0.1f}}, 7);
  DataParallel<Device> ranks(communicator, network);
  Adam<Device> adam(network, {.epsilon = 1e-4}, ranks.share());
  Batches training(text, small_training::special_tokens, {.size = 4, .order = BatchOrder::sequential});
  const TrainOptions options{.epochs = 2, .accumulate = accumulate, .seed = 3, .report_every = 1};
  Trainer trainer(network, adam, ConstantRate{1e-2}, options, &ranks);
  small_training::Recorder recorder;
  trainer.run(training, {&recorder});
  return {{network.parameters.values(), network.parameters.values() + network.parameters.size()}, recorder.steps, {}};
}

}  // namespace

TEST_CASE_TEMPLATE("loss terms: each term has the same weight and mean on ranks as in one process", Model, WithActivity,
                   WithActivityWithoutOptions) {
  for (const Index ranks : {2, 3, 4}) {
    CAPTURE(ranks);
    Communicator alone;
    const auto one = train<Model>(alone, ranks);
    std::vector<parallel_training::Result> several(static_cast<std::size_t>(ranks));
    on_ranks(ranks, [&](ThreadRank& rank) { several[static_cast<std::size_t>(rank.rank())] = train<Model>(rank, 1); });
    for (const auto& result : several) {
      CHECK(largest_difference(result.numbers, one.numbers) < 1e-12);
      REQUIRE(result.steps.size() == one.steps.size());
      for (std::size_t i = 0; i < one.steps.size(); ++i) {
        CHECK(result.steps[i].loss == doctest::Approx(one.steps[i].loss).epsilon(1e-12));
        REQUIRE(result.steps[i].terms.size() == 1);
        CHECK(result.steps[i].terms[0].value == doctest::Approx(one.steps[i].terms.at(0).value).epsilon(1e-12));
      }
    }
    for (const StepReport& report : several[0].steps) CHECK(report.terms[0].name == "activity");
  }
}
