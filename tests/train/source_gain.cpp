#include "attn/train/batch_loss.hpp"

#include <doctest/doctest.h>

#include "attn/language_model.hpp"
#include "attn/optim/adam.hpp"
#include "attn/train/source_gain.hpp"
#include "attn/train/trainer.hpp"
#include "attn/transformer.hpp"

using namespace attn;

namespace {

constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32};
constexpr SpecialTokens special_tokens{2, 3, Token{3}};

ParallelCorpus copying(Index pairs, std::uint64_t seed) {
  ParallelCorpus corpus;
  Random random(seed);
  for (Index i = 0; i < pairs; ++i) {
    const std::vector<Token> word{static_cast<Token>(4 + random.below(8))};
    corpus.source.push_back(word);
    corpus.target.push_back(word);
  }
  return corpus;
}

}  // namespace

TEST_CASE("source gain: exchanged sources pair each sentence with the next translation") {
  Sentences source, target;
  for (const Token word : {4, 5, 6}) {
    source.push_back(std::vector<Token>(static_cast<std::size_t>(word - 3), word));
    target.push_back(std::vector<Token>{word});
  }
  const Batch batch = Batch::of(source, target, special_tokens), wrong = with_wrong_sources(batch);
  CHECK(wrong.source.tokens == std::vector<Token>{5, 5, 3, 6, 6, 6, 3, 4, 3});
  CHECK(wrong.source.offsets == std::vector<std::int32_t>{0, 3, 7, 9});
  CHECK(wrong.target_input == batch.target_input);
  CHECK(wrong.target_output == batch.target_output);
}

TEST_CASE("source gain: is large after learning to copy and small before") {
  Cpu<float> device(1);
  const ParallelCorpus text = copying(64, 1), held_out = copying(16, 2);
  Network<Transformer<Cpu<float>, shape>> network(device, {.source_vocabulary = 12, .target_vocabulary = 12}, 7);
  Adam adam(network);
  Batches training(text, special_tokens, {.size = 16}), validation(held_out, special_tokens, {.size = 16});
  const auto before = source_gain(network, validation);
  REQUIRE(before.has_value());
  CHECK(std::abs(*before) < 0.2);
  Trainer trainer(network, adam, ConstantRate{5e-3}, {.epochs = 40});
  std::vector<double> gains;
  OnValidation note([&](const ValidationReport& report) { gains.push_back(report.source_gain.value_or(-1)); });
  trainer.run(training, validation, {&note});
  REQUIRE(gains.size() == 40);
  CHECK(gains.back() > 1);
  CHECK(gains.back() == source_gain(network, validation));
}

TEST_CASE("source gain: is undefined for one sentence and for models without a source") {
  Cpu<float> device(1);
  const ParallelCorpus one = copying(1, 1), text = copying(16, 2);
  Batches alone(one, special_tokens, {.size = 16}), many(text, special_tokens, {.size = 16});
  Network<Transformer<Cpu<float>, shape>> network(device, {.source_vocabulary = 12, .target_vocabulary = 12}, 7);
  CHECK(!source_gain(network, alone).has_value());
  Network<LanguageModel<Cpu<float>, shape>> language_model(device, {.vocabulary = 12}, 7);
  CHECK(!source_gain(language_model, many).has_value());
}
