// Runs Transformers of PyTorch's layout for tests/python/torch_transformer.py: logits of every target token.
//     torch_transformer_logits MODEL.safetensors post|pre PAIRS, a file with a line `source ids | target ids` for each pair
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "attn/checkpoint/torch_transformer.hpp"
#include "attn/transformer.hpp"

using namespace attn;
using Host = Cpu<float>;

namespace {

std::vector<Token> numbers(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<Token>(in), {}};
}

template <class Norm, class Activation>
void print_logits(const SafetensorsFile& file, const Sentences& source, const Sentences& target) {
  constexpr TransformerShape shape{.encoder_layers = 2, .decoder_layers = 3, .width = 24, .heads = 4, .inner = 40};
  using Model = Transformer<Host, shape, Full<>, Norm, Activation, NoPositions>;
  Host device;
  Network<Model> network(device, {file["source_embedding.table"].shape[0], file["target_embedding.table"].shape[0]},
                         Inference{});
  load_model(file, network.parameters, {.parts_of = torch_transformer_parts});
  Tape<Host> tape(device);
  const auto hidden = network->hidden(tape, upload(tape, source), upload(tape, target));
  const auto logits = network->output.logits(hidden).value;
  for (Index i = 0; i < logits.rows; ++i)
    for (Index j = 0; j < logits.cols; ++j) std::cout << logits(i, j) << (j + 1 < logits.cols ? ' ' : '\n');
}

}  // namespace

int main(int count, char** arguments) try {
  require(count == 4, "torch_transformer_logits: needs a model, post or pre, and pairs");
  Sentences source, target;
  std::ifstream lines(arguments[3]);
  for (std::string line; std::getline(lines, line);) {
    const auto bar = line.find('|');
    source.push_back(numbers(line.substr(0, bar)));
    target.push_back(numbers(line.substr(bar + 1)));
  }
  std::cout.precision(9);
  const SafetensorsFile file(arguments[1]);
  if (std::string(arguments[2]) == "post")
    print_logits<PostNormAndFinal, Relu>(file, source, target);
  else
    print_logits<PreNorm, GeluExact>(file, source, target);
} catch (const std::exception& error) {
  std::cerr << "torch_transformer_logits: " << error.what() << '\n';
  return 1;
}
