// A mixture of two feed-forward blocks, gated per token, as an activation policy. The encoder learns to reverse.

#include <iostream>

#include "attn/models/text_encoder.hpp"
#include "attn/nn/output.hpp"
#include "attn/optim/adam.hpp"
#include "device.hpp"

using namespace attn;
struct Mixture {
  template <class Device, int Width, int Inner>
  struct Layer {
    FeedForward<Device, Width, Inner> first, second;
    Linear<Device, Width, 1> gate;
    Layer(int width, int inner, float) : first(width, inner), second(width, inner), gate(width, 1) {}

    Variable<Device, Width> operator()(Variable<Device, Width> x) const {
      const Variable<Device, 1> share = sigmoid(gate(x));  // one number per token
      return share * first(x) + (1 - share) * second(x);
    }
    void for_each_parameter(auto&& visit) { visit("first", first), visit("second", second), visit("gate", gate); }
  };
};

constexpr Index kTokens = 10;

struct Reverser {
  using DeviceType = Device;
  TextEncoder<Device, dynamic_shape, Full<>, PreNorm, Mixture> encoder{
      {.vocabulary = kTokens,
       .dropout = {.residual = 0},
       .shape = {.encoder_layers = 2, .width = 32, .heads = 4, .inner = 32}}};
  Output<Device> output{kTokens, 32};
  void for_each_parameter(auto&& visit) { visit("encoder", encoder), visit("output", output); }
};

int main() {
  Device device;
  Network<Reverser> network(device, 1);
  Adam adam(network);
  Random random(2);
  double last = 0;
  for (std::uint64_t step = 1; step <= 500; ++step) {
    Sentences from, to;
    for (int i = 0; i < 32; ++i) {
      std::vector<Token> tokens(6);
      for (Token& token : tokens) token = static_cast<Token>(random.below(kTokens));
      from.push_back(tokens);
      to.push_back(std::vector<Token>(tokens.rbegin(), tokens.rend()));
    }
    Tape<Device> tape(device, TapeMode::training(1, step));
    Loss<Device> loss = network->output.loss(network->encoder(tape, upload(tape, from)), upload(tape, to));
    loss.backward();
    adam.step(3e-3);
    if (step % 100 == 0) std::cout << "step " << step << ": loss " << (last = loss.value()) << "\n";
  }
  return last < 0.3 ? 0 : 1;
}
