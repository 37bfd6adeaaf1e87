#include <doctest/doctest.h>

#include <chrono>
#include <cmath>

#include "attn/data/parallel_corpus.hpp"
#include "attn/decode/translator.hpp"
#include "attn/text/word_vocabulary.hpp"
#include "small_training.hpp"
#include "support/errors.hpp"

// Corpora, vocabularies and sentences at the edge of what there is.

using namespace attn;
using small_training::Model, small_training::special_tokens, small_training::copying;

namespace {

/// Trains for two epochs on a corpus with batches of so many sentences; the reported losses.
std::vector<double> losses(const ParallelCorpus& corpus, Index batch, Index vocabulary = 12) {
  Cpu<float> device(2);
  Network<Model> network(device, {.source_vocabulary = vocabulary, .target_vocabulary = vocabulary}, 7);
  Adam adam(network, {.clip_norm = 1});
  Trainer trainer(network, adam, ConstantRate{1e-2}, {.epochs = 2, .report_every = 1});
  const BatchOptions options{.size = batch, .order = BatchOrder::pooled};
  Batches training(corpus, special_tokens, options), validation(corpus, special_tokens, options);
  small_training::Recorder recorder;
  trainer.run(training, validation, {&recorder});
  std::vector<double> all;
  for (const StepReport& report : recorder.steps) all.push_back(report.loss);
  return all;
}

}  // namespace

TEST_CASE("limits: no training pairs are rejected and one pair trains") {
  CHECK(contains(error_of([] { losses({}, 8); }), "no sentences"));
  const std::vector<double> one = losses(copying(1, 1), 8);
  REQUIRE(one.size() == 2);
  CHECK(one[1] < one[0]);
}

TEST_CASE("limits: a batch larger than the corpus is the corpus") {
  const ParallelCorpus corpus = copying(5, 1);
  CHECK(losses(corpus, 1'000'000'000) == losses(corpus, 5));
}

TEST_CASE("limits: a vocabulary can have one word beside the special tokens or one word in all") {
  ParallelCorpus corpus;
  for (int i = 0; i < 4; ++i)
    corpus.source.push_back(std::vector<Token>{4, 4}), corpus.target.push_back(std::vector<Token>{4});
  for (const double loss : losses(corpus, 4, 5)) CHECK(std::isfinite(loss));

  Cpu<float> device(1);
  Network<Model> network(device, {.source_vocabulary = 1, .target_vocabulary = 1}, 7);
  const Sentences zeros{{0, 0}};
  const Batch batch = Batch::of(zeros, zeros, {0, 0, Token{0}});
  Tape<Cpu<float>> tape(device, TapeMode::training(1, 1));
  auto loss = network->loss(tape, batch);
  loss.backward();
  CHECK(loss.mean() == 0);  // the only word is certain
}

TEST_CASE("limits: a sentence of a million words is truncated in training and translation") {
  const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b"});
  std::string line;
  for (int i = 0; i < 1'000'000; ++i) line += "a ";
  const auto start = std::chrono::steady_clock::now();
  const ParallelCorpus corpus = encode_corpus({{line, "b"}, {line, "b"}}, words, words, 255);
  CHECK(corpus.source.length(0) == 255);
  for (const double loss : losses(corpus, 2, words.padded_size())) CHECK(std::isfinite(loss));

  Cpu<float> device(2);
  Network<Model> network(device, {.source_vocabulary = 8, .target_vocabulary = 8}, 7);
  std::vector<std::string> said;
  TranslatorOptions options{.limit = 4, .truncate = 255};
  options.warn = [&](Index number, const std::string& what) { said.push_back(std::to_string(number) + ": " + what); };
  const Translator translator(device, network.model, words, words, options);
  CHECK(translator({"b", line}).size() == 2);
  CHECK(said == std::vector<std::string>{"2: has 1000000 tokens; only the first 255 are translated"});
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));  // squared, it would be hours
}
