// Gradients of several batches a step.

#include <doctest/doctest.h>

#include <cmath>

#include "attn/train/trainer.hpp"
#include "attn/transformer.hpp"
#include "support/errors.hpp"
#include "train/custom_losses.hpp"

using namespace attn;

namespace {

using namespace custom_losses;

constexpr SpecialTokens special_tokens{.begin = 2, .end = 3, .source_end = 3};

/// An optimiser that moves nothing, and keeps the gradients of every step.
struct Keeper {
  static constexpr const char* name = "keeper";
  Parameters<Device>& parameters;
  std::vector<std::vector<double>> gradients = {};

  void step(double) {
    gradients.emplace_back(parameters.gradients(), parameters.gradients() + parameters.size());
    parameters.device().zero(parameters.gradients(), parameters.size());
  }
  Index steps() const { return static_cast<Index>(gradients.size()); }
  void set_steps(Index) {}
  void for_each_state(const auto&) {}
};

/// Sentences of very different lengths, so that batches differ in their tokens.
ParallelCorpus ragged(Index pairs) {
  ParallelCorpus corpus;
  Random random(1);
  for (Index i = 0; i < pairs; ++i)
    for (Sentences* side : {&corpus.source, &corpus.target}) {
      std::vector<Token> words(static_cast<std::size_t>(i % 3 == 0 ? 9 + random.below(4) : random.below(3)));
      for (Token& word : words) word = static_cast<Token>(4 + random.below(8));
      side->push_back(words);
    }
  return corpus;
}

/// Pairs of one length, so that batches of as many sentences have as many tokens.
ParallelCorpus even(Index pairs) {
  ParallelCorpus corpus;
  Random random(1);
  for (Index i = 0; i < pairs; ++i)
    for (Sentences* side : {&corpus.source, &corpus.target}) {
      std::vector<Token> words(5);
      for (Token& word : words) word = static_cast<Token>(4 + random.below(8));
      side->push_back(words);
    }
  return corpus;
}

/// The gradients of each step of one epoch of a corpus, dealt in its order.
template <class Model = Base>
std::vector<std::vector<double>> gradients_of(const ParallelCorpus& corpus, Index batch, Index accumulate, BatchUnit mean) {
  Device device(1);
  Network<Model> network(device, {.source_vocabulary = 12, .target_vocabulary = 12, .dropout = {0, 0, 0}}, 7);
  Keeper keeper{network.parameters};
  Batches batches(corpus, special_tokens, {.size = batch, .order = BatchOrder::sequential});
  Trainer trainer(network, keeper, [](Index) { return 1; },
                  {.epochs = 1, .accumulate = accumulate, .loss = {.amount = 0.1}, .mean = mean});
  trainer.run(batches);
  return keeper.gradients;
}

void check_equal(const std::vector<std::vector<double>>& ours, const std::vector<std::vector<double>>& theirs) {
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t step = 0; step < ours.size(); ++step) {
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < ours[step].size(); ++i) {
      worst = std::max(worst, std::abs(ours[step][i] - theirs[step][i]));
      largest = std::max(largest, std::abs(theirs[step][i]));
    }
    CAPTURE(step);
    CHECK(worst <= 1e-12);
    CHECK(largest > 1e-2);
  }
}

}  // namespace

TEST_CASE("accumulation: accumulated batches give the gradient of one large batch") {
  for (const BatchUnit mean : {BatchUnit::tokens, BatchUnit::sentences}) {
    CAPTURE(static_cast<int>(mean));
    const ParallelCorpus corpus = ragged(12);
    check_equal(gradients_of(corpus, 4, 3, mean), gradients_of(corpus, 12, 1, mean));
    check_equal(gradients_of(corpus, 1, 6, mean), gradients_of(corpus, 6, 1, mean));
  }
}

TEST_CASE("accumulation: a short last batch or group gives the gradient of one large batch") {
  for (const BatchUnit mean : {BatchUnit::tokens, BatchUnit::sentences}) {
    CAPTURE(static_cast<int>(mean));
    const ParallelCorpus corpus = ragged(11);
    check_equal(gradients_of(corpus, 4, 3, mean), gradients_of(corpus, 12, 1, mean));  // 4 + 4 + 3
    check_equal(gradients_of(corpus, 2, 4, mean), gradients_of(corpus, 8, 1, mean));   // 2 + 2 + 2 + 2, then 2 + 1
    check_equal(gradients_of(corpus, 4, 9, mean), gradients_of(corpus, 11, 1, mean));  // fewer batches than a group
  }
}

TEST_CASE_TEMPLATE("accumulation: custom losses with several terms give the gradient of one large batch", Model,
                   WithoutOptions, WithActivity, WithActivityWithoutOptions) {
  const auto gradients = [](const ParallelCorpus& corpus, Index batch, Index accumulate, BatchUnit mean) {
    return gradients_of<Model>(corpus, batch, accumulate, mean);
  };
  const ParallelCorpus corpus = ragged(11);
  check_equal(gradients(corpus, 6, 2, BatchUnit::tokens), gradients(corpus, 11, 1, BatchUnit::tokens));  // 6 + 5
  check_equal(gradients(corpus, 2, 4, BatchUnit::tokens), gradients(corpus, 8, 1, BatchUnit::tokens));
  for (const BatchUnit mean : {BatchUnit::tokens, BatchUnit::sentences})
    check_equal(gradients(even(8), 4, 2, mean), gradients(even(8), 8, 1, mean));
}

TEST_CASE("accumulation: each batch of a step draws its own dropout masks") {
  const ParallelCorpus corpus = even(8);
  const BatchOptions in_order{.size = 2, .order = BatchOrder::sequential};
  Device device(1);
  Network<Base> network(device, {.source_vocabulary = 12, .target_vocabulary = 12, .dropout = {0.3f, 0.3f, 0.3f}}, 7);
  Keeper keeper{network.parameters};
  {
    Batches batches(corpus, special_tokens, in_order);
    Trainer trainer(network, keeper, [](Index) { return 1; }, {.epochs = 1, .accumulate = 2, .seed = 5});
    trainer.run(batches);
  }
  Keeper expected{network.parameters};
  Batches batches(corpus, special_tokens, in_order);
  Batch batch;
  for (std::uint64_t number = 0; batches.next(batch); ++number) {  // 2 pairs of 6 labels each, so 24 in a step
    {
      Tape<Device> tape(device, TapeMode::training(5, number));
      network->loss(tape, batch, {.normalizer = 24}).backward();
    }
    if (number % 2 == 1) expected.step(1);
  }
  check_equal(keeper.gradients, expected.gradients);
}

TEST_CASE("accumulation: a step without batches is an error") {
  CHECK(error_of([] { gradients_of(ragged(2), 1, 0, BatchUnit::tokens); }) ==
        "Trainer: accumulate is 0, but must be at least 1");
}
