// A custom residual connection: y = x + sigmoid(g) * f(norm(x)), where g is a learned vector. Its gates start almost
// closed, so that a deep stack starts close to the identity. A model takes it as its norm policy. The encoder learns to
// sort.

#include "attn/models/text_encoder.hpp"
#include "attn/nn/output.hpp"
#include "toy_training.hpp"

using namespace attn;

struct GatedResidual {
  template <class Device, int Width>
  using Final = RmsNorm<Device, Width>;  // after the last layer

  template <class Device, int Width>
  struct Connection {
    RmsNorm<Device, Width> norm;
    Parameter<Device> gate;

    Connection(int width, float /* dropout */) : norm(width), gate{width, 1, Initializer::constant(-2)} {}

    template <class Sublayer>
    Variable<Device, Width> operator()(Variable<Device, Width> x, const Sublayer& f) const {
      return x + sigmoid(gate) * f(norm(x));
    }
    void for_each_parameter(auto&& visit) { visit("norm", norm), visit("gate", gate); }
  };
};

constexpr Index kTokens = 10;

struct Sorter {
  using DeviceType = Device;
  TextEncoder<Device, dynamic_shape, Full<>, GatedResidual> encoder{
      {.vocabulary = kTokens,
       .dropout = {.residual = 0},
       .shape = {.encoder_layers = 4, .width = 32, .heads = 4, .inner = 64}}};
  Output<Device> output{kTokens, 32};
  void for_each_parameter(auto&& visit) { visit("encoder", encoder), visit("output", output); }
};

int main() {
  Device device;
  Network<Sorter> network(device, 1);
  Random random(2);
  const double last = train(network, 500, 3e-3, [&](Tape<Device>& tape) {
    const auto [from, to] = SequencePairs(random, 6, kTokens, [](auto& tokens) { std::ranges::sort(tokens); });
    return network->output.loss(network->encoder(tape, upload(tape, from)), upload(tape, to));
  });
  return last < 0.2 ? 0 : 1;
}
