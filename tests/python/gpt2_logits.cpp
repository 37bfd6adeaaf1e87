// Runs a GPT-2 of Hugging Face's layout for tests/python/gpt2.py: logits after every token of each prompt, and greedy continuations.
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "attn/checkpoint/gpt2.hpp"
#include "attn/decode/greedy.hpp"
#include "attn/language_model.hpp"

using namespace attn;
using Host = Cpu<float>;

int main(int argc, char** argv) try {
  require(argc == 3, "usage: gpt2_logits MODEL.safetensors PROMPTS, a file with a line of token ids for each prompt");
  constexpr TransformerShape shape{.encoder_layers = 0, .decoder_layers = 3, .width = 48, .heads = 4, .inner = 192};
  using Model = LanguageModel<Host, shape, PreNorm, Gelu, Learned<64>>;
  const SafetensorsFile file(argv[1]);
  const TensorView* table = file.find("transformer.wte.weight");
  Host device;
  Network<Model> network(device, {.vocabulary = (table != nullptr ? *table : file["wte.weight"]).shape[0]}, Inference{});
  load_gpt2(file, network);
  const Model& model = network.model;

  std::ifstream lines(argv[2]);
  Sentences prompts;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    prompts.push_back(std::vector<Token>(std::istream_iterator<Token>(words), {}));
  }
  std::cout.precision(9);
  Tape<Host> tape(device);
  const auto logits = model.output.logits(model.hidden(tape, upload(tape, prompts))).value;
  for (Index i = 0; i < logits.rows; ++i)
    for (Index j = 0; j < logits.cols; ++j) std::cout << logits(i, j) << (j + 1 < logits.cols ? ' ' : '\n');
  for (const auto& text : greedy(device, model, prompts, {.end = -1, .limit = 20})) {
    for (const Token token : text) std::cout << token << ' ';
    std::cout << '\n';
  }
} catch (const std::exception& error) {
  std::cerr << "gpt2_logits: " << error.what() << '\n';
  return 1;
}
