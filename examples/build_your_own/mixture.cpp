// A mixture of two feed-forward blocks, gated per token, as an activation policy. The encoder learns to reverse.

#include "attn/models/text_encoder.hpp"
#include "attn/nn/output.hpp"
#include "toy_training.hpp"

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
  Random random(2);
  const double last = train(network, 500, 3e-3, [&](Tape<Device>& tape) {
    const auto [from, to] = SequencePairs(random, 6, kTokens, [](auto& tokens) { std::ranges::reverse(tokens); });
    return network->output.loss(network->encoder(tape, upload(tape, from)), upload(tape, to));
  });
  return last < 0.3 ? 0 : 1;
}
