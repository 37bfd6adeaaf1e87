#include "attn/train/memory_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "attn/optim/adam.hpp"
#include "attn/transformer.hpp"

using namespace attn;

namespace {

using Device = Cpu<float>;
using Model =
    Transformer<Device, TransformerShape{.encoder_layers = 2, .decoder_layers = 2, .width = 32, .heads = 2, .inner = 64},
                Linformer<4, 64>>;

constexpr SpecialTokens special_tokens{2, 3, Token{3}};
constexpr Index kVocabulary = 40;

/// Pairs of up to `longest` words a side.
ParallelCorpus random_pairs(Index pairs, Index longest, std::uint64_t seed) {
  ParallelCorpus corpus;
  Random random(seed);
  for (Index i = 0; i < pairs; ++i)
    for (Sentences* side : {&corpus.source, &corpus.target}) {
      std::vector<Token> words(static_cast<std::size_t>(random.below(longest + 1)));
      for (Token& word : words) word = static_cast<Token>(4 + random.below(kVocabulary - 4));
      side->push_back(words);
    }
  return corpus;
}

struct Run {
  Device device{2};
  ParallelCorpus text = random_pairs(300, 40, 1), held_out = random_pairs(40, 60, 2);
  Network<Model> network{
      device, {.source_vocabulary = kVocabulary, .target_vocabulary = kVocabulary, .dropout = {0.1f, 0.1f, 0.1f}}, 7};
  Parameters<Device>& parameters = network.parameters;
  Adam<Device> adam{network, {.clip_norm = 1}};
  BatchOptions batches{.size = 16, .order = BatchOrder::pooled, .pool = 4, .seed = 5};
  Batches training{text, special_tokens, batches}, validation{held_out, special_tokens, batches};
  static constexpr Index epochs = 3;

  MemoryPlan plan() { return plan_memory(network, adam, training.largest(0, epochs), validation.largest(0, 1)); }
  void train() {
    Trainer trainer(network, adam, ConstantRate{1e-3}, {.epochs = epochs, .seed = 3});
    trainer.run(training, validation);
  }
  std::vector<float> numbers() const { return {parameters.values(), parameters.values() + parameters.size()}; }
};

}  // namespace

TEST_CASE("memory plan: allocates the memory of the whole run before the first step") {
  for (const BatchUnit unit : {BatchUnit::sentences, BatchUnit::tokens}) {
    CAPTURE(static_cast<int>(unit));
    Run run;
    run.batches.unit = unit;
    if (unit == BatchUnit::tokens) run.batches.size = 600;
    run.training = Batches(run.text, special_tokens, run.batches);
    const MemoryPlan plan = run.plan();
    const Index numbers = run.parameters.size() * Index{sizeof(float)};
    CHECK(plan.parameters == 2 * numbers);
    CHECK(plan.optimiser == 2 * numbers);
    CHECK(plan.activations == static_cast<Index>(run.device.activations.capacity()));
    CHECK(plan.activations > Index{1} << 20);
    CHECK(plan.gradients > 0);
    CHECK(plan.scratch > 0);
    CHECK(plan.total() < plan.available);
    run.train();
    CHECK(static_cast<Index>(run.device.activations.capacity()) == plan.activations);
    CHECK(static_cast<Index>(run.device.gradients.capacity()) == plan.gradients);
  }
}

TEST_CASE("memory plan: does not affect training results") {
  Run planned, plain;
  planned.plan();
  const float* gradients = planned.parameters.gradients();
  CHECK(std::all_of(gradients, gradients + planned.parameters.size(), [](float x) { return x == 0; }));
  CHECK(planned.numbers() == plain.numbers());
  CHECK(planned.training.position() == plain.training.position());
  planned.train();
  plain.train();
  CHECK(planned.numbers() == plain.numbers());
}

TEST_CASE("memory plan: prints a sentence with a suitable unit") {
  constexpr Index kMiB = 1 << 20, kGiB = 1 << 30;
  const MemoryPlan large{kGiB / 2, kGiB / 4, 3 * kGiB, kGiB, 64 * kMiB, 80 * kGiB};
  CHECK(large.to_string() ==
        "parameters and their gradients 0.50 GiB, optimiser 0.25, activations 3.00, their gradients "
        "1.00, scratch 0.06: 4.81 of 80.0 GiB");
  const MemoryPlan small{8 * kMiB, 8 * kMiB, 100 * kMiB, 17 * kMiB, 2 * kMiB, 16 * kGiB};
  CHECK(small.to_string() ==
        "parameters and their gradients 8.0 MiB, optimiser 8.0, activations 100.0, their gradients "
        "17.0, scratch 2.0: 135.0 MiB of 16.0 GiB");
}
