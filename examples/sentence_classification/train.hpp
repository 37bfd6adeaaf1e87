#pragma once
// The classifiers: sequence to one vector, then a linear layer with two outputs. Trains them on sequences of growing length
// and measures their accuracy on held-out text.

#include <chrono>
#include <iostream>

#include "../build_your_own/device.hpp"
#include "attn/attention/linformer.hpp"
#include "attn/models/text_encoder.hpp"
#include "attn/optim/adam.hpp"
#include "attn/optim/schedules.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/reductions.hpp"
#include "attn/tape/transfer.hpp"
#include "documents.hpp"

/// The mean of an encoder's states. `Attention` is Full<> for the Transformer and Linformer<> for the Linformer.
template <class Attention>
struct EncoderClassifier {
  using DeviceType = Device;
  using Options = TextEncoderOptions;
  TextEncoder<Device, dynamic_shape, Attention, PreNorm> encoder;
  Linear<Device> head;

  explicit EncoderClassifier(const Options& options) : encoder(options), head(options.shape.width, 2) {}
  Variable<Device> operator()(Tape<Device>& tape, const Text& text) const {
    return head(mean_rows(encoder(tape, text), text.rows));
  }
  void for_each_parameter(auto&& visit) { visit("encoder", encoder), visit("head", head); }
};

/// The baseline: the mean of the embeddings. It ignores word order and cannot compare two words.
struct BagOfWords {
  using DeviceType = Device;
  using Options = TextEncoderOptions;
  WordEmbedding<Device> embedding;
  Linear<Device> head;

  explicit BagOfWords(const Options& options)
      : embedding(options.vocabulary, options.shape.width), head(options.shape.width, 2) {}
  Variable<Device> operator()(Tape<Device>& tape, const Text& text) const {
    return head(mean_rows(embedding(tape, text), text.rows));
  }
  void for_each_parameter(auto&& visit) { visit("embedding", embedding), visit("head", head); }
};

struct TrainOptions {
  std::vector<int> lengths{16, 32};  // tokens per sequence, each a multiple of the first
  Index steps = 500, batch_tokens = 1'024, test_examples = 2'000;
  double rate = 2e-3;
  std::uint64_t seed = 1;
};

/// A row of the table. Memory covers activations, their gradients and scratch, but not parameters.
struct Result {
  std::string model;
  int length;
  double accuracy, milliseconds_per_step, mebibytes;
};

/// Runs the backward pass of one batch. Returns the loss.
template <class Model>
Loss<Device> backward(Tape<Device>& tape, const Network<Model>& network, const Examples& examples) {
  Loss<Device> loss = cross_entropy((*network)(tape, upload(tape, examples.texts)), upload(tape, examples.labels));
  loss.backward();
  return loss;
}

/// Memory of a training step in bytes, measured on a new device.
template <class Model>
Index peak_memory(const TextEncoderOptions& model, const Examples& examples) {
  Device device;
  Network<Model> network(device, model, 1);
  for (int step = 0; step < 2; ++step) {  // the first step allocates in pieces
    Tape<Device> tape(device, TapeMode::gradients());
    backward(tape, network, examples);
  }
  return static_cast<Index>(device.activations.capacity() + device.gradients.capacity()) + device.scratch();
}

/// Trains `options.steps` steps at each length, shortest first, with the same weights. Calls report(Result) after each.
template <class Model>
void train_and_test(const std::string& name, const TrainOptions& options, const TextEncoderOptions& model,
                    const ParallelCorpus& training, const ParallelCorpus& test, auto&& report) {
  constexpr Index kUntimed = 20;  // steps in which memory still grows
  Device device;
  Network<Model> network(device, model, options.seed);
  Adam adam(network, {.beta2 = 0.98, .clip_norm = 1});
  const WarmupCosine schedule{.warmup = options.steps / 10, .peak = options.rate, .total = options.steps};
  Random random(options.seed);
  std::uint64_t all_steps = 0;
  for (const int length : options.lengths) {
    const Index blocks = length / options.lengths.front(), batch = std::max<Index>(options.batch_tokens / length, 1);
    auto start = std::chrono::steady_clock::now();
    for (Index step = 1; step <= options.steps; ++step) {
      Tape<Device> tape(device, TapeMode::training(options.seed, ++all_steps));
      auto loss = backward(tape, network, draw_examples(training, blocks, batch, random));
      adam.step(schedule(step));
      if (step == kUntimed || step == options.steps || step % 100 == 0)  // value() waits for the device
        std::cerr << name << ", " << length << " tokens, step " << step << ": loss " << loss.value() << "\n";
      if (step == kUntimed) start = std::chrono::steady_clock::now();
    }
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;

    Random test_random(options.seed, 1);  // the same test examples for every model
    Index correct = 0, tested = 0;
    for (; tested < options.test_examples; tested += batch) {
      const Examples examples = draw_examples(test, blocks, batch, test_random);
      Tape<Device> tape(device);
      const std::vector<float> logits = download((*network)(tape, upload(tape, examples.texts)));
      for (std::size_t i = 0; i < examples.labels.tokens.size(); ++i)
        correct += (logits[2 * i + 1] > logits[2 * i]) == (examples.labels.tokens[i] == 1);
    }
    const Index bytes = peak_memory<Model>(model, draw_examples(training, blocks, batch, random));
    report({name, length, static_cast<double>(correct) / static_cast<double>(tested),
            time.count() / static_cast<double>(options.steps - kUntimed), static_cast<double>(bytes) / (1 << 20)});
  }
}
