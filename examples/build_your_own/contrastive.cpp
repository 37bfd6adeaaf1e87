// A contrastive loss: each source should be nearer to its own target than to the other targets of the batch. The sentences'
// vectors are mean-pooled states of length 1; their products are the logits of a softmax over the batch.

#include <iostream>
#include <numeric>

#include "attn/models/text_encoder.hpp"
#include "attn/optim/adam.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/ragged_product.hpp"
#include "attn/tape/reductions.hpp"
#include "attn/tape/transfer.hpp"
#include "device.hpp"

using namespace attn;
constexpr Index kTokens = 12;
constexpr Index kPairs = 32;

struct Pairs {
  using DeviceType = Device;
  const TextEncoderOptions options{.vocabulary = kTokens,
                                   .shape = {.encoder_layers = 1, .width = 32, .heads = 4, .inner = 64}};
  TextEncoder<Device> source{options}, target{options};

  /// One vector of length 1 per sentence.
  static Variable<Device> pooled(const TextEncoder<Device>& encoder, Tape<Device>& tape, const Sentences& texts) {
    const Text text = upload(tape, texts);
    const Variable<Device> mean = mean_rows(encoder(tape, text), text.rows);
    return mean / sqrt(sum_columns(square(mean)));
  }
  void for_each_parameter(auto&& visit) { visit("source", source), visit("target", target); }
};

int main() {
  Device device;
  Network<Pairs> network(device, 1);
  Adam adam(network);
  Random random(2);
  std::vector<Token> numbers(kPairs);
  std::iota(numbers.begin(), numbers.end(), 0);
  double last = 0;
  for (std::uint64_t step = 1; step <= 300; ++step) {
    Sentences texts;  // the two encoders do not know that they read the same texts
    for (Index i = 0; i < kPairs; ++i) {
      std::vector<Token> tokens(5);
      for (Token& token : tokens) token = static_cast<Token>(random.below(kTokens));
      texts.push_back(tokens);
    }
    Tape<Device> tape(device, TapeMode::training(1, step));
    const Text labels = upload(tape, numbers);  // row i belongs to column i
    const Variable<Device> logits = ragged_scores(Pairs::pooled(network->source, tape, texts), labels.rows,
                                                  Pairs::pooled(network->target, tape, texts), labels.rows, 10);
    Loss<Device> loss = cross_entropy(logits, labels);
    loss.backward();
    adam.step(2e-3);
    if (step % 100 == 0) std::cout << "step " << step << ": loss " << (last = loss.value()) << "\n";
  }
  return last < 0.5 ? 0 : 1;
}
