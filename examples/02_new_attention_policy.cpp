// A custom attention policy: it normalises keys, so that no key wins by its length alone. A policy is written with layers,
// so it needs no gradient, and a Transformer takes it as a template argument. The model learns to reverse words.

#include <algorithm>
#include <iostream>
#include <string>

#include "attn/decode/greedy.hpp"
#include "attn/optim/adam.hpp"
#include "attn/train/trainer.hpp"
#include "attn/transformer.hpp"

using namespace attn;

struct NormedKeys {
  using Score = ScaledDot;                      // how a query and a key match
  static constexpr bool causal_allowed = true;  // it transforms each key alone, so the future can be masked

  /// Normalises the keys and keeps the values.
  template <class Device, int Width, int Heads>
  struct LengthProjection {
    LayerNorm<Device, Width> norm;

    explicit LengthProjection(const AttentionShape& shape) : norm(shape.width) {}

    KeysValues<Device> operator()(KeysValues<Device> all) const { return {norm(all.keys), all.values, all.rows}; }
    void for_each_parameter(auto&& visit) { visit("norm", norm); }
  };
};

constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 32, .heads = 4, .inner = 64};

using Host = Cpu<float>;
using Model = Transformer<Host, shape, NormedKeys>;  // Full<> instead of NormedKeys: the Transformer of the paper

static_assert(AttentionPolicy<NormedKeys, Host, shape.width, shape.heads>);

constexpr Token kBegin = 0, kEnd = 1, kFirstLetter = 2;

std::vector<Token> spell(const std::string& word) {
  std::vector<Token> letters;
  for (const char letter : word) letters.push_back(kFirstLetter + letter - 'a');
  return letters;
}

int main() {
  Random random(1);
  ParallelCorpus words;  // random words of one to six letters, and the same backwards
  for (int i = 0; i < 4000; ++i) {
    std::vector<Token> word(static_cast<std::size_t>(1 + random.below(6)));
    for (Token& letter : word) letter = static_cast<Token>(kFirstLetter + random.below(26));
    words.source.push_back(word);
    std::reverse(word.begin(), word.end());
    words.target.push_back(word);
  }
  const auto [known, unknown] = split_validation(words, 0.05);
  const SpecialTokens special_tokens{.begin = kBegin, .end = kEnd, .source_end = kEnd};
  Batches training(known, special_tokens, {.size = 32}), validation(unknown, special_tokens, {.size = 100});

  Host device;
  Network<Model> network(device, {.source_vocabulary = 28, .target_vocabulary = 28, .dropout = {0, 0, 0}}, 1);
  Adam adam(network, {.beta2 = 0.98, .clip_norm = 1});
  Trainer trainer(network, adam, InverseSquareRoot{.width = shape.width, .warmup = 100, .scale = 0.2}, {.epochs = 8});
  trainer.run(training, validation);
  std::cout << "loss on unseen words: " << trainer.state.best << "\n";

  int right = 0;
  for (const std::string word : {"drawer", "live", "star", "loop"}) {
    Sentences source;
    special_tokens.add_source(source, spell(word));
    const auto letters = greedy(device, *network, source, {.begin = kBegin, .end = kEnd, .limit = 10});
    std::string backwards;
    for (const Token letter : letters[0]) backwards += static_cast<char>('a' + letter - kFirstLetter);
    std::cout << word << " -> " << backwards << "\n";
    right += std::equal(word.rbegin(), word.rend(), backwards.begin(), backwards.end());
  }
  return right >= 3 && trainer.state.best < 0.1 ? 0 : 1;
}
