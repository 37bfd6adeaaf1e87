// Runs a Llama of Hugging Face's layout for tests/python/llama.py: logits after every token of each prompt, and greedy
// continuations.
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "attn/checkpoint/llama.hpp"
#include "attn/decode/greedy.hpp"
#include "attn/language_model.hpp"

using namespace attn;
using Host = Cpu<float>;

int main(int argc, char** argv) try {
  require(
      argc == 4 || argc == 6,
      "usage: llama_logits MODEL.safetensors PROMPTS tied|untied [ROPE_THETA RMS_NORM_EPS]; a line of token ids for each "
      "prompt");
  const SafetensorsFile file(argv[1]);
  const TransformerShape shape{.encoder_layers = 0,
                               .decoder_layers = 3,
                               .width = 48,
                               .heads = 6,
                               .inner = 80,
                               .key_value_heads = 2,
                               .rope_base = argc == 6 ? std::stoi(argv[4]) : 10000};
  Host device;
  Network<Llama<Host>> network(device,
                               {.vocabulary = 71,
                                .tie_output = std::string_view(argv[3]) == "tied",
                                .shape = shape,
                                .norm_epsilon = argc == 6 ? std::stof(argv[5]) : 1e-5f},
                               Inference{});
  load_llama(file, network);

  std::ifstream lines(argv[2]);
  Sentences prompts;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    prompts.push_back(std::vector<Token>(std::istream_iterator<Token>(words), {}));
  }
  std::cout.precision(9);
  Tape<Host> tape(device);
  const auto logits = network->output.logits(network->hidden(tape, upload(tape, prompts))).value;
  for (Index i = 0; i < logits.rows; ++i)
    for (Index j = 0; j < logits.cols; ++j) std::cout << logits(i, j) << (j + 1 < logits.cols ? ' ' : '\n');
  for (const auto& text : greedy(device, *network, prompts, {.end = -1, .limit = 20})) {
    for (const Token token : text) std::cout << token << ' ';
    std::cout << '\n';
  }
} catch (const std::exception& error) {
  std::cerr << "llama_logits: " << error.what() << '\n';
  return 1;
}
