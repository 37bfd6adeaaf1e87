#include <cstring>

#include "attn/decode/greedy.hpp"
#include "attn/optim/adam.hpp"
#include "attn/seq2seq.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using F = Cpu<float>;

namespace {

constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 32, .heads = 4, .inner = 64};
constexpr RecurrentShape recurrent_shape{.embedding = 32, .width = 32, .encoder_layers = 1, .decoder_layers = 1};
constexpr Index kVocabulary = 14;

/// Sentences of 1 to 6 words, to be copied or reversed.
Batch task(Random& random, bool reverse) {
  Batch batch;
  for (int i = 0; i < 32; ++i) {
    std::vector<Token> from;
    for (Index length = 1 + random.below(6); length > 0; --length)
      from.push_back(static_cast<Token>(4 + random.below(kVocabulary - 4)));
    std::vector<Token> to = from;
    if (reverse) std::reverse(to.begin(), to.end());
    batch.add(from, to, special_tokens);
  }
  return batch;
}

/// Learns the task for some steps; the last loss.
template <class Model>
double learn(F& device, Model& model, Parameters<F>& parameters, Random& random, bool reverse, int steps) {
  Adam<F> adam(parameters, {.beta2 = 0.98, .clip_norm = 1});
  double last = 0;
  for (int step = 1; step <= steps; ++step) {
    const Batch batch = task(random, reverse);
    Tape<F> tape(device, TapeMode::training(1, static_cast<std::uint64_t>(step)));
    auto loss = model.loss(tape, batch);
    loss.backward();
    adam.step(3e-3 * std::min({1.0, step / 50.0, 2.0 * (steps - step + 1) / steps}));  // warm up, cool down
    last = loss.mean();
  }
  return last;
}

/// Tasks of fresh sentences that greedy decoding solves, of 32.
template <class Model>
int solved(F& device, const Model& model, bool reverse) {
  Random random(1234);
  const Batch batch = task(random, reverse);
  const auto translations = greedy(device, model, batch.source, {.begin = 2, .end = 3, .limit = 10});
  int right = 0;
  for (Index i = 0; i < batch.source.size(); ++i) {
    std::vector<Token> expected(batch.source[i].begin(), batch.source[i].end());
    if (reverse) std::reverse(expected.begin(), expected.end());
    right += translations[static_cast<std::size_t>(i)] == expected;
  }
  return right;
}

template <class Attention, class Norm>
void check_learning(bool reverse) {
  F device(1);  // so small a model gains nothing from a second
  Transformer<F, shape, Attention, Norm> model(
      {.source_vocabulary = kVocabulary, .target_vocabulary = kVocabulary, .dropout = {0, 0, 0}});
  Parameters<F> parameters(device, model, 1);
  Random random(5);
  CHECK(learn(device, model, parameters, random, reverse, 1) > 2);  // about log 14 before anything is learned
  CHECK(learn(device, model, parameters, random, reverse, 600) < 0.05);
  CHECK(solved(device, model, reverse) >= 30);
}

/// All parameters after some steps with dropout.
std::vector<float> trained(int threads) {
  F device(threads);
  Transformer<F, shape> model({.source_vocabulary = kVocabulary, .target_vocabulary = kVocabulary});
  Parameters<F> parameters(device, model, 3);
  Random random(5);
  learn(device, model, parameters, random, true, 25);
  return {parameters.values(), parameters.values() + parameters.size()};
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("learning: a small Transformer learns to copy and to reverse" * doctest::test_suite("slow")) {
  check_learning<Full<>, PostNorm>(false);
  check_learning<Full<>, PostNorm>(true);
  check_learning<Full<>, PreNorm>(true);
}

TEST_CASE("learning: a small Linformer learns to reverse" * doctest::test_suite("slow")) {
  check_learning<Linformer<6, 6>, PostNorm>(true);
}

TEST_CASE("learning: one seed gives the same bits for every run and number of threads") {
  const auto one = trained(1);
  CHECK(same_bits(one, trained(1)));
  const auto two = trained(2);
  CHECK(same_bits(two, trained(2)));
  CHECK(same_bits(one, two));
}

TEST_CASE_TEMPLATE("learning: recurrent models learn to reverse a sentence" * doctest::test_suite("slow"), Model,
                   Seq2Seq<F, recurrent_shape, BothWaysProjected, OnEncoderAndPast<Additive<32>>>,
                   InputFeeding<F, recurrent_shape, BothWays, Multiplicative, SharedKeyValue, Lexical>) {
  F device(1);
  Model model({.source_vocabulary = kVocabulary, .target_vocabulary = kVocabulary});
  Parameters<F> parameters(device, model, 1);
  Random random(5);
  const double loss = learn(device, model, parameters, random, true, 400);
  CHECK(loss < 0.1);
  CHECK(solved(device, model, true) >= 28);
}
