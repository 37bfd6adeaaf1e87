// A classifier: an encoder, the mean of its states, a linear layer and a cross-entropy with one label per sentence. It
// learns whether a sequence begins and ends with the same token.

#include "attn/models/text_encoder.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/reductions.hpp"
#include "attn/tape/transfer.hpp"
#include "toy_training.hpp"

using namespace attn;

constexpr Index kTokens = 10;

struct Classifier {
  using DeviceType = Device;
  TextEncoder<Device> encoder{{.vocabulary = kTokens + 1,
                               .dropout = {.residual = 0},
                               .shape = {.encoder_layers = 2, .width = 32, .heads = 4, .inner = 64}}};
  Linear<Device> head{32, 2};

  /// One row of two logits per sentence.
  Variable<Device> operator()(Tape<Device>& tape, const Sentences& texts) const {
    const Text text = upload(tape, texts);
    return head(mean_rows(encoder(tape, text), text.rows));
  }
  void for_each_parameter(auto&& visit) { visit("encoder", encoder), visit("head", head); }
};

void draw(Random& random, Index count, Sentences& texts, std::vector<Token>& labels) {
  for (Index i = 0; i < count; ++i) {
    std::vector<Token> tokens = random_tokens(random, 3 + random.below(5), kTokens);
    if (random.below(2) == 0) tokens.back() = tokens.front();
    labels.push_back(tokens.back() == tokens.front());
    tokens.push_back(kTokens);  // the end
    texts.push_back(tokens);
  }
}

int main() {
  Device device;
  Network<Classifier> network(device, 1);
  Random random(2);
  train(network, 600, 2e-3, [&](Tape<Device>& tape) {
    Sentences texts;
    std::vector<Token> labels;
    draw(random, 64, texts, labels);
    return cross_entropy((*network)(tape, texts), upload(tape, labels));
  });
  Sentences texts;
  std::vector<Token> labels;
  draw(random, 500, texts, labels);
  Tape<Device> tape(device);  // inference: does not record
  const std::vector<Token> predicted = argmax((*network)(tape, texts));
  int right = 0;
  for (std::size_t i = 0; i < 500; ++i) right += predicted[i] == labels[i];
  std::cout << right << " of 500 new sequences classified correctly\n";
  return right > 475 ? 0 : 1;
}
