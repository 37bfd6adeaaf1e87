// One training, two models: a Transformer and a Linformer differ in one word of their type. Both learn to translate 1,000
// English sentences of the bundled grammar into German, as far as they get in a few seconds.

#include <chrono>
#include <iostream>

#include "attn/optim/adam.hpp"
#include "attn/text/bpe_training.hpp"
#include "attn/train/trainer.hpp"
#include "attn/transformer.hpp"
#include "papers/grammar_corpus.hpp"

using namespace attn;
using namespace papers;

constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 64, .heads = 2, .inner = 128};

using Host = Cpu<float>;                                       // where they run
using Looking = Transformer<Host, shape, Full<>>;              // every position looks at every position
using Glancing = Transformer<Host, shape, Linformer<16, 64>>;  // ... at 16 mixtures of up to 64 positions

struct Outcome {
  double before, after;  // mean negative log-likelihood of a token of unseen text
};

template <class Model>
Outcome train(const char* name, const ValidationSplit& text, SpecialTokens special_tokens, Index vocabulary) {
  Host device;
  Network<Model> network(
      device,
      {.source_vocabulary = vocabulary, .target_vocabulary = vocabulary, .share_embeddings = true, .tie_output = true}, 1);
  Adam adam(network, {.beta2 = 0.98, .clip_norm = 1});
  Batches training(text.training, special_tokens, {.size = 32, .order = BatchOrder::pooled});
  Batches validation(text.validation, special_tokens, {.size = 100});

  const double before = perplexity(network, validation).mean();
  const auto start = std::chrono::steady_clock::now();
  Trainer trainer(network, adam, Constant{3e-3}, {.epochs = 4});
  trainer.run(training, validation);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::cout << name << ": " << network.parameters.count() << " parameters, loss " << before << " -> " << trainer.state.best
            << " in " << seconds.count() << " s\n";
  return {before, trainer.state.best};
}

int main() {
  ParallelText text;
  for (const SentencePair& pair : generate_pairs(1200, 1)) {
    text.source.push_back(pair.english);
    text.target.push_back(pair.german);
  }
  const ByteBpe tokenizer = learn_byte_bpe(600, text.source, text.target);
  const ValidationSplit split = split_validation(encode_corpus(text, tokenizer, tokenizer, 63), 200.0 / 1200);
  const SpecialTokens special_tokens = special_tokens_of(tokenizer, tokenizer);

  bool learnt = true;
  for (const auto& [before, after] : {train<Looking>("Full<>           ", split, special_tokens, tokenizer.padded_size()),
                                      train<Glancing>("Linformer<16, 64>", split, special_tokens, tokenizer.padded_size())})
    learnt = learnt && after < before / 2;
  return learnt ? 0 : 1;
}
