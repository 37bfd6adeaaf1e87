// A contrastive loss: each source should be nearer to its own target than to the other targets of the batch. The sentences'
// vectors are mean-pooled states of length 1; their products are the logits of a softmax over the batch.

#include <numeric>

#include "attn/models/text_encoder.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/ragged_product.hpp"
#include "attn/tape/reductions.hpp"
#include "attn/tape/transfer.hpp"
#include "toy_training.hpp"

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
  Random random(2);
  std::vector<Token> numbers(kPairs);
  std::iota(numbers.begin(), numbers.end(), 0);
  const double last = train(network, 300, 2e-3, [&](Tape<Device>& tape) {
    Sentences texts;  // the two encoders do not know that they read the same texts
    for (Index i = 0; i < kPairs; ++i) texts.push_back(random_tokens(random, 5, kTokens));
    const Text labels = upload(tape, numbers);  // row i belongs to column i
    const Variable<Device> logits = ragged_scores(Pairs::pooled(network->source, tape, texts), labels.rows,
                                                  Pairs::pooled(network->target, tape, texts), labels.rows, 10);
    return cross_entropy(logits, labels);
  });
  return last < 0.5 ? 0 : 1;
}
