// Two learning rates and a frozen part: an encoder has learned to write sequences backwards. Then the task changes: the
// tokens are to be shifted as well. The embedding is frozen, the encoder learns at a twentieth of the rate, and the output
// at the full rate.

#include <algorithm>
#include <iostream>
#include <vector>

#include "attn/models/text_encoder.hpp"
#include "attn/nn/output.hpp"
#include "attn/optim/adam.hpp"
#include "device.hpp"

using namespace attn;

constexpr Index kTokens = 12;

struct Model {
  using DeviceType = Device;
  TextEncoder<Device> text{{.vocabulary = kTokens,
                            .dropout = {.residual = 0},
                            .shape = {.encoder_layers = 2, .width = 32, .heads = 4, .inner = 64}}};
  Output<Device> output{kTokens, 32};
  void for_each_parameter(auto&& visit) { visit("text", text), visit("output", output); }
};

double train(Network<Model>& network, Random& random, int shift, std::uint64_t steps) {
  Adam adam(network);
  double last = 0;
  for (std::uint64_t step = 1; step <= steps; ++step) {
    Sentences from, to;
    for (int i = 0; i < 32; ++i) {
      std::vector<Token> tokens(8);
      for (Token& token : tokens) token = static_cast<Token>(random.below(kTokens));
      from.push_back(tokens);
      std::reverse(tokens.begin(), tokens.end());
      for (Token& token : tokens) token = static_cast<Token>((token + shift) % kTokens);
      to.push_back(tokens);
    }
    Tape<Device> tape(network.device(), TapeMode::training(1, step));
    Loss<Device> loss = network->output.loss(network->text(tape, upload(tape, from)), upload(tape, to));
    loss.backward();
    adam.step(3e-3);
    if (step % 100 == 0) std::cout << "step " << step << ": loss " << (last = loss.value()) << "\n";
  }
  return last;
}

int main() {
  Device device;
  Network<Model> network(device, 1);
  Random random(2);
  std::cout << "backwards\n";
  train(network, random, 0, 300);

  const auto& parameters = network.parameters;
  const auto& table = parameters.find("text.embedding.table");
  const auto before = parameters.read(table);
  network.freeze(network->text.embedding);            // or by name: network.freeze("text.embedding")
  network.group("text.encoder", {.rate = 1 / 20.0});  // times the rate that adam.step() gets
  std::cout << "backwards and shifted: " << parameters.trainable_count() << " of " << parameters.count()
            << " numbers learn\n";
  const double last = train(network, random, 1, 300);
  return last < 0.1 && parameters.read(table) == before ? 0 : 1;
}
