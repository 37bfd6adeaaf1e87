// Attention written by hand: scores, softmax and mix of each head, sentence by sentence. Change any line of it to try a new
// kind of attention. Values and gradients match the fused attention(), which needs no memory for the scores.

#include <iostream>

#include "attn/core/network.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tape/attention.hpp"
#include "attn/tape/columns.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/ragged_product.hpp"
#include "attn/tape/reductions.hpp"
#include "attn/tape/transfer.hpp"
#include "device.hpp"

using namespace attn;

constexpr int kWidth = 32, kHeads = 4, kHead = kWidth / kHeads;
const AttentionOptions options{.heads = kHeads, .scale = 1 / std::sqrt(double{kHead}), .causal = true};

Variable<Device> by_hand(Variable<Device> q, Variable<Device> k, Variable<Device> v, Ragged rows) {
  Variable<Device> y;
  for (int h = 0; h < kHeads; ++h) {
    const auto of_head = [h](Variable<Device> x) { return slice(x, h * kHead, kHead); };
    const Variable<Device> scores = ragged_scores(of_head(q), rows, of_head(k), rows, options.scale);
    const Variable<Device> weights = softmax(scores, rows, rows, options.causal);
    const Variable<Device> head = ragged_mix(weights, rows, of_head(v), rows);
    y = h == 0 ? head : concat(y, head);
  }
  return y;
}

struct Layer {
  using DeviceType = Device;
  Embedding<Device> embedding{20, kWidth};
  Linear<Device> in{kWidth, 3 * kWidth};
  void for_each_parameter(auto&& visit) { visit("embedding", embedding), visit("in", in); }
};

/// Relative to the largest number.
float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  float difference = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference = std::max(difference, std::abs(a[i] - b[i])), largest = std::max(largest, std::abs(a[i]));
  return difference / largest;
}

int main() {
  Device device;
  std::vector<float> values[2], gradients[2];
  for (int i = 0; i < 2; ++i) {
    Network<Layer> network(device, 1);  // the same weights both times
    Tape<Device> tape(device, TapeMode::gradients());
    const Text text = upload(tape, Sentences{{3, 1, 4, 1, 5, 9, 2, 6}, {5, 3}, {7}, {5, 8, 9, 7, 9}});
    auto [q, k, v] = split<3>(network->in(network->embedding(tape, text)));
    const Variable<Device> y = i == 0 ? by_hand(q, k, v, text.rows)
                                      : attention<Device>(q, text.rows, KeysValues<Device>{k, v, text.rows}, options);
    values[i] = download(y);
    sum(square(y)).backward();
    gradients[i] = network.parameters.read_gradient(network.parameters.find("in.weight"));
  }
  const float value = largest_difference(values[0], values[1]), gradient = largest_difference(gradients[0], gradients[1]);
  std::cout << "largest difference: values " << value << ", gradients " << gradient << "\n";
  const float bound = sizeof(Device::Scalar) == 2 ? 0.03f : 1e-5f;  // bfloat16, or float
  return value < bound && gradient < bound ? 0 : 1;
}
