// Two learning rates and a frozen part: an encoder has learned to write sequences backwards. Then the task changes: the
// tokens are to be shifted as well. The embedding is frozen, the encoder learns at a twentieth of the rate, and the output
// at the full rate.

#include "attn/models/text_encoder.hpp"
#include "attn/nn/output.hpp"
#include "toy_training.hpp"

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

double learn_backwards(Network<Model>& network, Random& random, int shift) {
  return train(network, 300, 3e-3, [&](Tape<Device>& tape) {
    const auto [from, to] = SequencePairs(random, 8, kTokens, [&](auto& tokens) {
      std::ranges::reverse(tokens);
      for (Token& token : tokens) token = static_cast<Token>((token + shift) % kTokens);
    });
    return network->output.loss(network->text(tape, upload(tape, from)), upload(tape, to));
  });
}

int main() {
  Device device;
  Network<Model> network(device, 1);
  Random random(2);
  std::cout << "backwards\n";
  learn_backwards(network, random, 0);

  const auto& parameters = network.parameters;
  const auto& table = parameters.find("text.embedding.table");
  const auto before = parameters.read(table);
  network.freeze(network->text.embedding);            // or by name: network.freeze("text.embedding")
  network.group("text.encoder", {.rate = 1 / 20.0});  // times the rate that adam.step() gets
  std::cout << "backwards and shifted: " << parameters.trainable_count() << " of " << parameters.count()
            << " numbers learn\n";
  const double last = learn_backwards(network, random, 1);
  return last < 0.1 && parameters.read(table) == before ? 0 : 1;
}
