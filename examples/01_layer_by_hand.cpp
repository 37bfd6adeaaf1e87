// A layer of your own. Its members are what it learns, for_each_parameter names them, and the call operator is its formula,
// written with differentiable functions of the tape. Nobody writes a gradient. Here it learns to read the cipher rot13.

#include <iostream>
#include <string>
#include <vector>

#include "attn/cpu.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/output.hpp"
#include "attn/optim/adam.hpp"
#include "attn/tape/linear.hpp"

using namespace attn;

/// y = x + relu(layer_norm(x) Uᵀ + u) Dᵀ + d
template <class Device, int Width, int Inner>
struct Block {
  LayerNorm<Device, Width> norm;                                        // a layer inside a layer
  Parameter<Device> up{Inner, Width, Initial::xavier(Width, Inner)};    // U, and how its weights are drawn at first
  Parameter<Device> up_bias{Inner, 1};                                  // u: zeros at first
  Parameter<Device> down{Width, Inner, Initial::xavier(Inner, Width)};  // D
  Parameter<Device> down_bias{Width, 1};                                // d

  Variable<Device, Width> operator()(Tape<Device>& tape, Variable<Device, Width> x) const {
    return residual(tape, x, feed_forward(tape, norm(tape, x), up, up_bias, down, down_bias, 0), 0);
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
  using DeviceType = Host;  // what a network needs to know of its model

  Embedding<Host, 32> letters{kLetters};
  Block<Host, 32, 64> block;
  Output<Host, 32> output{kLetters};

  Variable<Host, 32> operator()(Tape<Host>& tape, const Text& text) const { return block(tape, letters(tape, text)); }

  void for_each_parameter(auto&& visit) {
    visit("letters", letters);
    visit("block", block);
    visit("output", output);
  }
};

Token rot13(Token letter) { return letter == 26 ? 26 : (letter + 13) % 26; }

int main() {
  Host device;
  Network<Reader> network(device, 1);  // the layers, and their weights in one flat buffer, drawn from seed 1
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
    const auto loss = reader.output.loss(tape, reader(tape, upload(tape, secret)), upload(tape, plain));
    tape.backward();
    adam.step(2e-3);
    if (step == 1 || step % 50 == 0) std::cout << "step " << step << ": loss " << loss.mean(device) << "\n";
  }

  const std::string message = "uryyb jbeyq";
  std::vector<Token> letters;
  for (const char letter : message) letters.push_back(letter == ' ' ? 26 : letter - 'a');
  Tape<Host> tape(device);  // does not record: the same forward, for reading only
  const auto logits = reader.output.logits(tape, reader(tape, upload(tape, Sentences{letters})));
  Token* best = tape.array<Token>(logits.rows);
  argmax(device, {.logits = logits, .best = best});
  device.download(letters.data(), best, logits.rows);
  std::string answer;
  for (const Token letter : letters) answer += letter == 26 ? ' ' : static_cast<char>('a' + letter);
  std::cout << message << " -> " << answer << "\n";
  return answer == "hello world" ? 0 : 1;
}
