// One training, two models: a Transformer and a Linformer differ in one template argument. Both learn to translate 1,050
// English sentences into German in a few seconds.

#include <chrono>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "attn/optim/adam.hpp"
#include "attn/text/bpe_training.hpp"
#include "attn/train/trainer.hpp"
#include "attn/transformer.hpp"

using namespace attn;

using Host = Cpu<float>;
using WithFull = Transformer<Host, dynamic_shape, Full<>>;                  // every position attends to every position
using WithLinformer = Transformer<Host, dynamic_shape, Linformer<16, 64>>;  // ... to 16 mixtures of up to 64 positions

constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 64, .heads = 2, .inner = 128};

/// 1,260 different sentences and their translations, in random order.
ParallelText sentences() {
  using Phrases = std::vector<std::pair<std::string, std::string>>;
  const Phrases subjects{{"The dog", "Der Hund"},          {"The cat", "Die Katze"},        {"The child", "Das Kind"},
                         {"My sister", "Meine Schwester"}, {"Our teacher", "Unser Lehrer"}, {"The farmer", "Der Bauer"}};
  const Phrases verbs{{"sees", "sieht"}, {"finds", "findet"}, {"paints", "malt"}, {"needs", "braucht"}, {"knows", "kennt"}};
  const Phrases objects{{"the house", "das Haus"},         {"the garden", "den Garten"},        {"a book", "ein Buch"},
                        {"the old boat", "das alte Boot"}, {"a red flower", "eine rote Blume"}, {"her dress", "ihr Kleid"}};
  const Phrases times{{"today", "heute"}, {"again", "wieder"},    {"here", "hier"},          {"now", "jetzt"},
                      {"often", "oft"},   {"at last", "endlich"}, {"of course", "natürlich"}};
  Phrases pairs;
  for (const auto& subject : subjects)
    for (const auto& verb : verbs)
      for (const auto& object : objects)
        for (const auto& time : times)  // in German it precedes the object
          pairs.emplace_back(subject.first + " " + verb.first + " " + object.first + " " + time.first + ".",
                             subject.second + " " + verb.second + " " + time.second + " " + object.second + ".");
  Random(1).shuffle(pairs);
  ParallelText text;
  for (const auto& [english, german] : pairs) text.source.push_back(english), text.target.push_back(german);
  return text;
}

struct Outcome {
  double before, after;  // mean negative log-likelihood per token of unseen text
};

template <class Model>
Outcome train(const char* name, const ValidationSplit& text, SpecialTokens special_tokens, Index vocabulary) {
  Host device;
  Network<Model> network(device,
                         {.source_vocabulary = vocabulary,
                          .target_vocabulary = vocabulary,
                          .share_embeddings = true,
                          .tie_output = true,
                          .shape = shape},
                         1);
  Adam adam(network, {.beta2 = 0.98, .clip_norm = 1});
  Batches training(text.training, special_tokens, {.size = 32, .order = BatchOrder::pooled});
  Batches validation(text.validation, special_tokens, {.size = 100});

  const double before = perplexity(network, validation).mean();
  const auto start = std::chrono::steady_clock::now();
  Trainer trainer(network, adam, ConstantRate{3e-3}, {.epochs = 4});
  trainer.run(training, validation);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::cout << name << ": " << network.parameters.count() << " parameters, loss " << before << " -> " << trainer.state.best
            << " in " << seconds.count() << " s\n";
  return {before, trainer.state.best};
}

int main() {
  const ParallelText text = sentences();
  const ByteBpe tokenizer = learn_byte_bpe(400, text.source, text.target);
  const ValidationSplit split = split_validation(encode_corpus(text, tokenizer, tokenizer, 63), 1.0 / 6);
  const SpecialTokens special_tokens = special_tokens_of(tokenizer, tokenizer);
  const Index vocabulary = tokenizer.padded_size();

  bool learned = true;
  for (const auto& [before, after] : {train<WithFull>("Full<>           ", split, special_tokens, vocabulary),
                                      train<WithLinformer>("Linformer<16, 64>", split, special_tokens, vocabulary)})
    learned = learned && after < before / 2;
  return learned ? 0 : 1;
}
