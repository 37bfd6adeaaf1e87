// Trains a tokenizer and a model on your own sentence pairs, then translates.
//
//   04_your_own_pairs                         trains on the pairs below
//   04_your_own_pairs source.txt target.txt   trains on your files: UTF-8, line i of one translates line i of the other

#include <iostream>

#include "attn/decode/translator.hpp"
#include "attn/optim/adam.hpp"
#include "attn/text/bpe_training.hpp"
#include "attn/train/terminal.hpp"
#include "attn/train/trainer.hpp"
#include "attn/transformer.hpp"

using namespace attn;

using Host = Cpu<float>;
using Model = Transformer<Host>;  // its sizes are given at run time

const ParallelText few{
    {"The dog sleeps.", "The cat sleeps.", "The dog sees the cat.", "The cat sees the dog.", "I see the dog.",
     "I see the cat.", "We see the house.", "The house is old.", "The dog is old.", "Is the cat old?", "Is the house old?",
     "I am tired.", "We are tired.", "Are you tired?", "I do not see the house.", "The dog does not sleep."},
    {"Der Hund schläft.", "Die Katze schläft.", "Der Hund sieht die Katze.", "Die Katze sieht den Hund.",
     "Ich sehe den Hund.", "Ich sehe die Katze.", "Wir sehen das Haus.", "Das Haus ist alt.", "Der Hund ist alt.",
     "Ist die Katze alt?", "Ist das Haus alt?", "Ich bin müde.", "Wir sind müde.", "Bist du müde?",
     "Ich sehe das Haus nicht.", "Der Hund schläft nicht."}};

int main(int count, char** words) try {
  const ParallelText text = count == 3 ? read_parallel(words[1], words[2]) : few;
  require(!text.source.empty(), words[1], " has no sentences. Pass a text to train on.");

  const ByteBpe tokenizer = learn_byte_bpe(8000, text.source, text.target);  // one vocabulary for both languages
  std::cout << text.source.size() << " pairs, " << tokenizer.size() << " tokens in the vocabulary; the first sentence is "
            << tokenizer.encode(text.source.at(0)).size() << " of them\n";

  const ParallelCorpus corpus = encode_corpus(text, tokenizer, tokenizer);
  const SpecialTokens special_tokens = special_tokens_of(tokenizer, tokenizer);
  Batches training(corpus, special_tokens, {.size = 16}), validation(corpus, special_tokens, {.size = 64});

  Host device;
  Network<Model> network(device,
                         {.source_vocabulary = tokenizer.padded_size(),
                          .target_vocabulary = tokenizer.padded_size(),
                          .share_embeddings = true,
                          .tie_output = true,
                          .shape = {.encoder_layers = 1, .decoder_layers = 1, .width = 64, .heads = 2, .inner = 128}},
                         1);
  Adam adam(network, {.beta2 = 0.98, .clip_norm = 1});
  const Index epochs = count == 3 ? 20 : 300;
  Trainer trainer(network, adam, ConstantRate{1e-3}, {.epochs = epochs, .report_every = 50, .validate_every = 100});
  TerminalCallback terminal(std::cout, false, epochs * training.batches_per_epoch());
  trainer.run(training, validation, {&terminal});

  const Translator translate(device, *network, tokenizer, tokenizer, {.limit = 50});
  const std::vector<std::string> translations = translate(text.source);
  std::size_t right = 0;
  for (std::size_t i = 0; i < translations.size(); ++i) {
    if (i < 5) std::cout << text.source[i] << " -> " << translations[i] << "\n";
    right += translations[i] == text.target[i];
  }
  std::cout << right << " of " << translations.size() << " memorised\n";
  if (count == 3) return 0;
  for (const std::string line : {"We see the cat.", "The cat is old."})
    std::cout << "never seen: " << line << " -> " << translate({line})[0] << "\n";
  return right == translations.size() ? 0 : 1;
} catch (const std::exception& error) {  // a file that cannot be read, or with another number of lines
  std::cerr << "04_your_own_pairs: " << error.what() << "\n";
  return 1;
}
