// Learned prompts: three vectors stand before the words of each sentence, and the encoder reads both. The state of the first
// prompt answers a question about the sentence: does it begin and end with the same token?

#include <iostream>

#include "attn/models/text_encoder.hpp"
#include "attn/optim/adam.hpp"
#include "attn/tape/concat_rows.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/reductions.hpp"
#include "attn/tape/transfer.hpp"
#include "device.hpp"

using namespace attn;

constexpr Index kTokens = 10;

struct Prompted {
  using DeviceType = Device;
  TextEncoder<Device> encoder{{.vocabulary = kTokens,
                               .dropout = {.residual = 0},
                               .shape = {.encoder_layers = 2, .width = 32, .heads = 4, .inner = 64}}};
  WordEmbedding<Device> prompts{3, 32};
  Linear<Device> head{32, 2};

  Variable<Device> operator()(Tape<Device>& tape, const Sentences& texts) const {
    Sentences numbers;
    for (Index i = 0; i < texts.size(); ++i) numbers.push_back(std::vector<Token>{0, 1, 2});
    const Text text = upload(tape, texts), prompt = upload(tape, numbers);
    const auto [x, rows] = concat_rows(prompts(tape, prompt), prompt.rows, encoder.embedding(tape, text), text.rows);
    return head(first_rows(encoder.encoder(x, rows), rows));
  }
  void for_each_parameter(auto&& visit) { visit("encoder", encoder), visit("prompts", prompts), visit("head", head); }
};

int main() {
  Device device;
  Network<Prompted> network(device, 1);
  Adam adam(network);
  Random random(2);
  double last = 0;
  for (std::uint64_t step = 1; step <= 600; ++step) {
    Sentences texts;
    std::vector<Token> labels, tokens(4);
    for (int i = 0; i < 64; ++i) {
      for (Token& token : tokens) token = static_cast<Token>(random.below(kTokens));
      if (random.below(2) == 0) tokens.back() = tokens.front();
      labels.push_back(tokens.back() == tokens.front());
      texts.push_back(tokens);
    }
    Tape<Device> tape(device, TapeMode::training(1, step));
    Loss<Device> loss = cross_entropy((*network)(tape, texts), upload(tape, labels));
    loss.backward();
    adam.step(2e-3);
    if (step % 100 == 0) std::cout << "step " << step << ": loss " << (last = loss.value()) << "\n";
  }
  return last < 0.2 ? 0 : 1;
}
