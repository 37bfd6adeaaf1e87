// Learned prompts: three vectors stand before the words of each sentence, and the encoder reads both. The state of the first
// prompt answers a question about the sentence: does it begin and end with the same token?

#include "attn/models/text_encoder.hpp"
#include "attn/tape/concat_rows.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/reductions.hpp"
#include "attn/tape/transfer.hpp"
#include "toy_training.hpp"

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
  Random random(2);
  const double last = train(network, 600, 2e-3, [&](Tape<Device>& tape) {
    Sentences texts;
    std::vector<Token> labels;
    for (int i = 0; i < 64; ++i) {
      std::vector<Token> tokens = random_tokens(random, 4, kTokens);
      if (random.below(2) == 0) tokens.back() = tokens.front();
      labels.push_back(tokens.back() == tokens.front());
      texts.push_back(tokens);
    }
    return cross_entropy((*network)(tape, texts), upload(tape, labels));
  });
  return last < 0.2 ? 0 : 1;
}
