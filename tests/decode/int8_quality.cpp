#include "attn/decode/greedy.hpp"
#include "attn/metrics/bleu.hpp"
#include "attn/models/input_feeding.hpp"
#include "attn/optim/adam.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<float>;

namespace {

constexpr TransformerShape shape{.encoder_layers = 2, .decoder_layers = 2, .width = 64, .heads = 4, .inner = 128};
constexpr RecurrentShape recurrent_shape{.embedding = 64, .width = 96, .encoder_layers = 1, .decoder_layers = 1};

/// Sentences of 4 to 9 words in another order, each word in another's place: the second half first, then the first.
Batch task(Random& random, int sentences) {
  Batch batch;
  for (int i = 0; i < sentences; ++i) {
    std::vector<Token> from, to;
    for (Index length = 4 + random.below(6); length > 0; --length) from.push_back(static_cast<Token>(4 + random.below(36)));
    for (std::size_t k = 0; k < from.size(); ++k)
      to.push_back(static_cast<Token>(4 + (7 * from[(k + from.size() / 2) % from.size()]) % 36));
    batch.add(from, to, special_tokens);
  }
  return batch;
}

std::vector<std::string> as_lines(const std::vector<std::vector<Token>>& sentences) {
  std::vector<std::string> lines;
  for (const auto& words : sentences) {
    lines.emplace_back();
    for (const Token word : words) lines.back() += "w" + std::to_string(word) + " ";
  }
  return lines;
}

}  // namespace

TEST_CASE_TEMPLATE("int8: a trained model loses at most 0.3 BLEU" * doctest::test_suite("slow"), Model,
                   Transformer<D, shape>, InputFeeding<D, recurrent_shape>) {
  D device(1);
  const typename Model::Options vocabularies{.source_vocabulary = 40, .target_vocabulary = 40};
  Network<Model> network(device, vocabularies, 1);
  Adam adam(network, {.beta2 = 0.98, .clip_norm = 1});
  Random random(5);
  constexpr int kSteps = 900;
  for (int step = 1; step <= kSteps; ++step) {
    const Batch batch = task(random, 32);
    Tape<D> tape(device, TapeMode::training(1, static_cast<std::uint64_t>(step)));
    network->loss(tape, batch).backward();
    adam.step(2e-3 * std::min({1.0, step / 100.0, 2.0 * (kSteps - step + 1) / kSteps}));
  }

  const Batch unseen = task(random, 300);
  std::vector<std::vector<Token>> right;
  for (Index i = 0; i < unseen.target_output.size(); ++i) {
    const auto words = unseen.target_output[i];
    right.emplace_back(words.begin(), words.end() - 1);  // without the end
  }
  const auto bleu = [&](bool int8) {
    D other({.threads = 1, .int8_weights = int8});
    Network<Model> used(other, vocabularies, Inference{});
    for (const auto& entry : used.parameters.entries())
      used.parameters.write(entry, network.parameters.read(network.parameters.find(entry.name)));
    const auto translations = greedy(other, *used, unseen.source, {.begin = 2, .end = 3, .limit = 12});
    return corpus_bleu(as_lines(translations), as_lines(right)).score;
  };
  const double in_float = bleu(false), in_int8 = bleu(true);
  MESSAGE("BLEU in float ", in_float, ", with int8 weights ", in_int8);
  CHECK(in_float > 60);  // it has learned something
  CHECK(in_int8 > in_float - 0.3);
}
