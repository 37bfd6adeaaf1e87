// Custom positions: queries and keys are normalised and rotated, as in Qwen 3. The rest is Llama's: RMS norm, SwiGLU,
// grouped-query attention. The model learns to continue repeating patterns that it has never seen.

#include <iostream>

#include "attn/attention/rope.hpp"
#include "attn/core/network.hpp"
#include "attn/decode/greedy.hpp"
#include "attn/models/language_model.hpp"
#include "attn/optim/adam.hpp"
#include "attn/tape/reshape.hpp"
#include "device.hpp"

using namespace attn;

struct NormedRope : Full<> {
  template <class Device, int Width, int Heads>
  struct QueryKey {
    RmsNorm<Device> norm;  // of each head
    int heads, key_heads;
    explicit QueryKey(const AttentionShape& s) : norm(s.width / s.heads), heads(s.heads), key_heads(s.kv_heads()) {}
    Variable<Device> query(Variable<Device> q, Ragged rows, FirstPositions first) const {
      return rotary(normed(q, heads), rows, heads, first);
    }
    Variable<Device> key(Variable<Device> k, Ragged rows, FirstPositions first) const {
      return rotary(normed(k, key_heads), rows, key_heads, first);
    }
    Variable<Device> normed(Variable<Device> x, int of) const {
      return reshape(norm(reshape(x, x.rows() * of, x.cols() / of)), x.rows(), x.cols());
    }
    void for_each_parameter(auto&& visit) { visit("norm", norm); }
  };
};
using Model = LanguageModel<Device, dynamic_shape, PreNormOf<RmsNorm>, SwiGlu, NoPositions, NormedRope>;

/// A pattern of 4 different tokens, repeated. 0 begins and ends a text.
std::vector<Token> repeated(Random& random, std::size_t length) {
  std::vector<Token> pattern{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, text(length);
  random.shuffle(pattern);
  for (std::size_t i = 0; i < length; ++i) text[i] = pattern[i % 4];
  return text;
}

int main() {
  Device device;
  const TransformerShape shape{.decoder_layers = 2, .width = 32, .heads = 4, .inner = 64, .key_value_heads = 2};
  Network<Model> network(device, {.vocabulary = 12, .dropout = {.residual = 0}, .shape = shape}, 1);
  Adam adam(network);
  Random random(2);
  for (std::uint64_t step = 1; step <= 400; ++step) {
    Sentences texts;
    for (int i = 0; i < 16; ++i) texts.push_back(repeated(random, 16));
    Tape<Device> tape(device, TapeMode::training(1, step));
    Loss<Device> loss = network->loss(tape, Batch::of(texts, texts, {.begin = 0, .end = 0}));
    loss.backward();
    adam.step(3e-3);
    if (step % 100 == 0) std::cout << "step " << step << ": loss " << loss.mean() << " (best possible: 0.53)\n";
  }
  int right = 0;
  for (int i = 0; i < 20; ++i) {
    std::vector<Token> text = repeated(random, 13), prompt(text.begin(), text.begin() + 6);
    prompt.insert(prompt.begin(), 0);
    const auto continued = greedy(device, *network, Sentences{prompt}, {.end = 0, .limit = 7})[0];
    right += continued == std::vector<Token>(text.begin() + 6, text.end());
  }
  std::cout << right << " of 20 patterns continued\n";
  return right >= 19 ? 0 : 1;
}
