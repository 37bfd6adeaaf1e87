// A language model: learns from lines of plain text, then goes on where a prompt stops.
//
//   06_language_model            the English side of the bundled grammar
//   06_language_model text.txt   yours: UTF-8, a text a line

#include <iostream>

#include "attn/data/parallel_text.hpp"
#include "attn/data/plain_text.hpp"
#include "attn/decode/greedy.hpp"
#include "attn/language_model.hpp"
#include "attn/optim/adam.hpp"
#include "attn/text/bpe_training.hpp"
#include "attn/train/terminal.hpp"
#include "attn/train/trainer.hpp"
#include "papers/grammar_corpus.hpp"

using namespace attn;

constexpr TransformerShape shape{.decoder_layers = 2, .width = 64, .heads = 4, .inner = 256};

using Host = Cpu<float>;
using Model = LanguageModel<Host, shape, PreNorm, Gelu, Learned<256>>;  // GPT-2, but small

std::vector<std::string> bundled(int lines) {
  std::vector<std::string> text;
  for (papers::GrammarCorpus corpus(1); lines > 0; --lines) text.push_back(corpus.next().english);
  return text;
}

int main(int count, char** words) try {
  const std::vector<std::string> text = count == 2 ? read_lines(words[1]) : bundled(600);
  const ByteBpe tokenizer = learn_byte_bpe(500, text);
  const auto [training_text, validation_text] = split_validation(plain_corpus(encode_lines(text, tokenizer, 255)), 0.1);
  const SpecialTokens special_tokens{tokenizer.begin(), tokenizer.end()};
  Batches training(training_text, special_tokens, {.size = 32}), validation(validation_text, special_tokens, {.size = 64});

  Host device;
  Network<Model> network(device, {.vocabulary = tokenizer.padded_size()}, 1);
  std::cout << text.size() << " lines of text, " << network.parameters.count() << " parameters\n";
  Adam adam(network, {.clip_norm = 1});
  const double before = perplexity(network, validation).value();
  const Index epochs = 8;
  Trainer trainer(network, adam, Constant{3e-3}, {.epochs = epochs, .report_every = 50});
  TerminalCallback terminal(std::cout, false, epochs * training.batches_per_epoch());
  trainer.run(training, validation, {&terminal});

  Sentences prompts;  // each begins as the texts of the training do
  for (const std::string& prompt : std::vector<std::string>{"The", "If the", text[0].substr(0, text[0].size() / 2)}) {
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
