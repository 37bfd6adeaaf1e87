// A language model: learns from lines of plain text, then continues prompts.
//
//   06_language_model            learns from 630 generated sentences
//   06_language_model text.txt   learns from your text: UTF-8, one text per line

#include <iostream>
#include <string>
#include <vector>

#include "attn/data/parallel_text.hpp"
#include "attn/data/plain_text.hpp"
#include "attn/decode/greedy.hpp"
#include "attn/language_model.hpp"
#include "attn/optim/adam.hpp"
#include "attn/text/bpe_training.hpp"
#include "attn/train/terminal.hpp"
#include "attn/train/trainer.hpp"

using namespace attn;

using Host = Cpu<float>;
using Model = LanguageModel<Host, dynamic_shape, PreNorm, Gelu, Learned<256>>;  // GPT-2; its sizes are given at run time

/// 630 different sentences in random order.
std::vector<std::string> sentences() {
  std::vector<std::string> text;
  for (const std::string subject : {"The dog", "The old farmer", "My sister", "Our teacher", "The child in the garden"})
    for (const std::string verb : {"sees", "finds", "paints", "needs", "remembers", "knows"})
      for (const std::string object :
           {"the house", "a book", "the old boat", "a red flower", "the man from Rome", "her dress", "a letter"})
        for (const std::string time : {"today", "every morning", "again"})
          text.push_back(subject + " " + verb + " " + object + " " + time + ".");
  Random(1).shuffle(text);
  return text;
}

int main(int count, char** words) try {
  const std::vector<std::string> text = count == 2 ? read_lines(words[1]) : sentences();
  const ByteBpe tokenizer = learn_byte_bpe(500, text);
  const auto [training_text, validation_text] = split_validation(plain_corpus(encode_lines(text, tokenizer, 255)), 0.1);
  const SpecialTokens special_tokens{tokenizer.begin(), tokenizer.end()};
  Batches training(training_text, special_tokens, {.size = 32}), validation(validation_text, special_tokens, {.size = 64});

  Host device;
  Network<Model> network(
      device,
      {.vocabulary = tokenizer.padded_size(), .shape = {.decoder_layers = 2, .width = 64, .heads = 4, .inner = 256}}, 1);
  std::cout << text.size() << " lines of text, " << network.parameters.count() << " parameters\n";
  Adam adam(network, {.clip_norm = 1});
  const double before = perplexity(network, validation).value();
  const Index epochs = 8;
  Trainer trainer(network, adam, ConstantRate{3e-3}, {.epochs = epochs, .report_every = 50});
  TerminalCallback terminal(std::cout, false, epochs * training.batches_per_epoch());
  trainer.run(training, validation, {&terminal});

  Sentences prompts;  // each begins with the token that begins a training text
  for (const std::string& prompt : std::vector<std::string>{"The", "Our teacher", text[0].substr(0, text[0].size() / 2)}) {
    std::vector<Token> tokens{special_tokens.begin};
    tokenizer.encode(prompt, tokens);
    prompts.push_back(tokens);
  }
  const auto written = greedy(device, network.model, prompts, {.end = special_tokens.end, .limit = 40});
  for (Index i = 0; i < prompts.size(); ++i)
    std::cout << tokenizer.decode(prompts[i]) << " |" << tokenizer.decode(written[static_cast<std::size_t>(i)]) << "\n";
  std::cout << "perplexity of unseen text: " << before << " -> " << std::exp(trainer.state.best) << "\n";
  return std::exp(trainer.state.best) < before / 10 ? 0 : 1;
} catch (const std::exception& error) {  // a file that cannot be read
  std::cerr << "06_language_model: " << error.what() << "\n";
  return 1;
}
