// A custom layer. Its members are its parameters, for_each_parameter names them, and the call operator is its formula,
// written with differentiable functions. You do not write a gradient. This one learns to read the cipher rot13.

#include <iostream>
#include <string>
#include <vector>

#include "attn/cpu.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/output.hpp"
#include "attn/optim/adam.hpp"
#include "attn/tape/arithmetic.hpp"
#include "attn/tape/linear.hpp"
#include "attn/tape/transfer.hpp"

using namespace attn;

/// y = x + relu(layer_norm(x) Uᵀ + u) Dᵀ + d. Its sizes are given at run time.
template <class Device>
struct Block {
  LayerNorm<Device> norm;             // a layer inside a layer
  Parameter<Device> up, up_bias;      // U, u
  Parameter<Device> down, down_bias;  // D, d

  Block(int width, int inner)
      : norm(width),
        up{inner, width, Initializer::xavier(width, inner)},  // its shape, and how its values are initialised
        up_bias{inner, 1},                                    // zeros
        down{width, inner, Initializer::xavier(inner, width)},
        down_bias{width, 1} {}

  Variable<Device> operator()(Variable<Device> x) const {
    return x + feed_forward(norm(x), up, up_bias, down, down_bias, 0);
  }

  void for_each_parameter(auto&& visit) {
    visit("norm", norm);
    visit("up", up);
    visit("up_bias", up_bias);
    visit("down", down);
    visit("down_bias", down_bias);
  }
};

using Host = Cpu<float>;

constexpr Index kLetters = 27;  // a to z, and the space

struct Reader {
  using DeviceType = Host;  // Network needs it

  Embedding<Host> letters{kLetters, 32};  // a vocabulary of 27, 32 columns
  Block<Host> block{32, 64};
  Output<Host> output{kLetters, 32};

  Variable<Host> operator()(Tape<Host>& tape, const Text& text) const { return block(letters(tape, text)); }

  void for_each_parameter(auto&& visit) {
    visit("letters", letters);
    visit("block", block);
    visit("output", output);
  }
};

Token rot13(Token letter) { return letter == 26 ? 26 : (letter + 13) % 26; }

int main() {
  Host device;
  Network<Reader> network(device, 1);  // the layers and their weights, initialised from seed 1
  const Reader& reader = *network;
  Adam adam(network);
  Random random(2);
  for (const auto& entry : network.parameters.entries())
    std::cout << entry.name << "  " << entry.rows << " x " << entry.cols << "\n";

  for (std::uint64_t step = 1; step <= 200; ++step) {
    std::vector<Token> letters(128);
    for (Token& letter : letters) letter = static_cast<Token>(random.below(kLetters));
    const Sentences secret{letters};
    for (Token& letter : letters) letter = rot13(letter);
    const Sentences plain{letters};

    Tape<Host> tape(device, TapeMode::training(1, step));
    Loss<Host> loss = reader.output.loss(reader(tape, upload(tape, secret)), upload(tape, plain));
    loss.backward();
    adam.step(2e-3);
    if (step == 1 || step % 50 == 0) std::cout << "step " << step << ": loss " << loss.mean() << "\n";
  }

  const std::string message = "uryyb jbeyq";
  std::vector<Token> letters;
  for (const char letter : message) letters.push_back(letter == ' ' ? 26 : letter - 'a');
  Tape<Host> tape(device);  // does not record: the same forward pass, for inference
  letters = argmax(reader.output.logits(reader(tape, upload(tape, letters))));
  std::string answer;
  for (const Token letter : letters) answer += letter == 26 ? ' ' : static_cast<char>('a' + letter);
  std::cout << message << " -> " << answer << "\n";
  return answer == "hello world" ? 0 : 1;
}
