// A custom feed-forward block: SwiGLU is three matrices and one line of arithmetic. A model takes it as a template
// argument. The encoder learns to reverse sequences. (attn has this block as SwiGlu.)

#include "attn/models/text_encoder.hpp"
#include "attn/nn/output.hpp"
#include "toy_training.hpp"

using namespace attn;

struct MySwiGlu {
  /// y = (silu(x Gᵀ) * x Uᵀ) Dᵀ
  template <class Device, int Width, int Inner>
  struct Layer {
    Projection<Device> gate, up, down;  // torch.nn.Linear(bias=False)

    Layer(int width, int inner, float /* dropout */) : gate(width, inner), up(width, inner), down(inner, width) {}

    Variable<Device, Width> operator()(Variable<Device, Width> x) const { return down(silu(gate(x)) * up(x)); }

    void for_each_parameter(auto&& visit) { visit("gate", gate), visit("up", up), visit("down", down); }
  };
};

constexpr Index kTokens = 12;

struct Reverser {
  using DeviceType = Device;

  TextEncoder<Device, dynamic_shape, Full<>, PreNorm, MySwiGlu> encoder{
      {.vocabulary = kTokens,
       .dropout = {.residual = 0},
       .shape = {.encoder_layers = 2, .width = 32, .heads = 4, .inner = 48}}};
  Output<Device> output{kTokens, 32};

  Loss<Device> loss(Tape<Device>& tape, const Sentences& from, const Sentences& to) const {
    return output.loss(encoder(tape, upload(tape, from)), upload(tape, to));
  }
  void for_each_parameter(auto&& visit) { visit("encoder", encoder), visit("output", output); }
};

int main() {
  Device device;
  Network<Reverser> network(device, 1);
  Random random(2);
  const double last = train(network, 300, 3e-3, [&](Tape<Device>& tape) {
    const auto [from, to] = SequencePairs(random, 8, kTokens, [](auto& tokens) { std::ranges::reverse(tokens); });
    return network->loss(tape, from, to);
  });
  return last < 0.1 ? 0 : 1;
}
