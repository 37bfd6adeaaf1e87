// Several losses: a model tags each token, and an auxiliary head predicts the largest token of the sequence from the mean of
// the encoder's states. A penalty keeps the states small. Losses add up, and one backward pass serves them all.

#include "attn/models/text_encoder.hpp"
#include "attn/nn/output.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/reductions.hpp"
#include "toy_training.hpp"

using namespace attn;

constexpr Index kTokens = 10;

struct Tagger {
  using DeviceType = Device;
  TextEncoder<Device> encoder{{.vocabulary = kTokens,
                               .dropout = {.residual = 0},
                               .shape = {.encoder_layers = 2, .width = 32, .heads = 4, .inner = 64}}};
  Output<Device> tag{2, 32};            // does the token occur elsewhere in the sequence?
  Linear<Device> largest{32, kTokens};  // the auxiliary head

  void for_each_parameter(auto&& visit) {
    visit("encoder", encoder);
    visit("tag", tag);
    visit("largest", largest);
  }
};

int main() {
  Device device;
  Network<Tagger> network(device, 1);
  Adam adam(network);
  Random random(2);
  double tag_loss = 0, largest_loss = 0;
  for (std::uint64_t step = 1; step <= 400; ++step) {
    Sentences texts, tags, largest;  // one label per token, and one per sequence
    for (int i = 0; i < 32; ++i) {
      const std::vector<Token> tokens = random_tokens(random, 4 + random.below(5), kTokens);
      std::vector<Token> repeated;
      for (const Token token : tokens) repeated.push_back(std::ranges::count(tokens, token) > 1);
      texts.push_back(tokens);
      tags.push_back(repeated);
      largest.push_back({&*std::ranges::max_element(tokens), 1});
    }
    Tape<Device> tape(device, TapeMode::training(1, step));
    const Text text = upload(tape, texts);
    const Variable<Device> states = network->encoder(tape, text);
    Loss<Device> main = network->tag.loss(states, upload(tape, tags));
    Loss<Device> auxiliary = cross_entropy(network->largest(mean_rows(states, text.rows)), upload(tape, largest));
    Loss<Device> loss = main + 0.5 * auxiliary + 1e-3 * mean(square(states));
    loss.backward();
    adam.step(2e-3);
    if (step % 100 != 0) continue;
    tag_loss = main.value(), largest_loss = auxiliary.value();  // computed already
    std::cout << "step " << step << ": loss " << loss.value() << ", tags " << tag_loss << ", largest " << largest_loss
              << "\n";
  }
  return tag_loss < 0.1 && largest_loss < 0.2 ? 0 : 1;
}
