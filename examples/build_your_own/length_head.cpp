// An auxiliary head on a Transformer: it predicts the length of the target from the mean of the source's states, with a mean
// squared error. The model's loss has both terms, so Trainer trains, validates and logs them. It learns to copy.

#include <iostream>

#include "attn/models/transformer.hpp"
#include "attn/optim/adam.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/reductions.hpp"
#include "attn/tape/transfer.hpp"
#include "attn/train/trainer.hpp"
#include "device.hpp"

using namespace attn;
struct WithLength {
  using DeviceType = Device;
  Transformer<Device> translation{
      {.source_vocabulary = 12,
       .target_vocabulary = 12,
       .shape = {.encoder_layers = 1, .decoder_layers = 1, .width = 32, .heads = 4, .inner = 64}}};
  Linear<Device> length{32, 1};
  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {}) const {
    const auto [source, target, labels] = upload(tape, batch);
    const Variable<Device> memory = translation.encode(tape, source);
    const Variable<Device> states = translation.decode(tape, target, memory, source.rows);
    std::vector<float> lengths;
    for (Index i = 0; i < batch.size(); ++i) lengths.push_back(static_cast<float>(batch.target_output.length(i)));
    Loss<Device> error = mse(length(mean_rows(memory, source.rows)), upload(tape, lengths, batch.size(), 1));
    return translation.output.loss(states, labels, options) + 0.1 * error.named("length");
  }
  void for_each_parameter(auto&& visit) { visit("translation", translation), visit("length", length); }
};

ParallelCorpus draw(Index pairs, std::uint64_t seed) {
  ParallelCorpus corpus;
  Random random(seed);
  for (Index i = 0; i < pairs; ++i) {
    std::vector<Token> tokens(static_cast<std::size_t>(1 + random.below(6)));
    for (Token& token : tokens) token = static_cast<Token>(4 + random.below(8));
    corpus.source.push_back(tokens), corpus.target.push_back(tokens);
  }
  return corpus;
}

int main() {
  Device device;
  Network<WithLength> network(device, 1);
  Adam adam(network);
  const ParallelCorpus text = draw(1000, 1), held_out = draw(100, 2);
  const SpecialTokens special{.begin = 2, .end = 3, .source_end = Token{3}};
  Batches training(text, special, {.size = 50}), validation(held_out, special, {.size = 50});
  Trainer trainer(network, adam, ConstantRate{3e-3}, {.epochs = 20, .report_every = 100});
  OnStep print([](const StepReport& report) {
    std::cout << "step " << report.step << ": " << report.loss << ", length " << report.terms[0].value << "\n";
  });
  trainer.run(training, validation, {&print});
  std::cout << "lowest validation loss, of both terms: " << trainer.state.best << "\n";
  return trainer.state.best < 0.3 ? 0 : 1;
}
